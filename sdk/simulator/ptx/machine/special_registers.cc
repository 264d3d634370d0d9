// SPDX-License-Identifier: Apache-2.0
#include "ptx/machine/special_registers.h"

#include "ptx/machine/block.h"
#include "ptx/machine/cluster.h"
#include "schedule/schedule.h"

namespace kernkit::simulator::ptx {
namespace {

// A function that returns the value of a special register in a lane of a warp.
using Value = uint64_t (*)(const Block& block, const Warp& warp, uint32_t lane);

struct SpecialDefinition {
  const char* name;
  Type type;
  Value value;
  // Whether the value differs between blocks; such a value is the same in all lanes of a block.
  bool is_of_block = false;
};

uint32_t thread_of(const Warp& warp, uint32_t lane) { return warp.number * 32 + lane; }

constexpr Value kZero = [](const Block&, const Warp&, uint32_t) -> uint64_t { return 0; };
constexpr Value kOne = [](const Block&, const Warp&, uint32_t) -> uint64_t { return 1; };
constexpr Value kGridX = [](const Block& b, const Warp&, uint32_t) -> uint64_t {
  return b.launch.grid.x;
};
constexpr Value kGridY = [](const Block& b, const Warp&, uint32_t) -> uint64_t {
  return b.launch.grid.y;
};
constexpr Value kGridZ = [](const Block& b, const Warp&, uint32_t) -> uint64_t {
  return b.launch.grid.z;
};
// Returns the index of a block in its cluster.
uint3 index_in_cluster(const Block& b) { return index_of(b.rank, b.launch.cluster); }

const SpecialDefinition kSpecials[] = {
    {"%tid.x", Type::kU32,
     [](const Block& b, const Warp& w, uint32_t l) -> uint64_t {
       return thread_of(w, l) % b.launch.block.x;
     }},
    {"%tid.y", Type::kU32,
     [](const Block& b, const Warp& w, uint32_t l) -> uint64_t {
       return thread_of(w, l) / b.launch.block.x % b.launch.block.y;
     }},
    {"%tid.z", Type::kU32,
     [](const Block& b, const Warp& w, uint32_t l) -> uint64_t {
       return thread_of(w, l) / b.launch.block.x / b.launch.block.y;
     }},
    {"%ntid.x", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t { return b.launch.block.x; }},
    {"%ntid.y", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t { return b.launch.block.y; }},
    {"%ntid.z", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t { return b.launch.block.z; }},
    {"%ctaid.x", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t { return b.index.x; }, true},
    {"%ctaid.y", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t { return b.index.y; }, true},
    {"%ctaid.z", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t { return b.index.z; }, true},
    {"%nctaid.x", Type::kU32, kGridX},
    {"%nctaid.y", Type::kU32, kGridY},
    {"%nctaid.z", Type::kU32, kGridZ},
    {"%laneid", Type::kU32, [](const Block&, const Warp&, uint32_t l) -> uint64_t { return l; }},
    {"%warpid", Type::kU32,
     [](const Block&, const Warp& w, uint32_t) -> uint64_t { return w.number; }},
    {"%nwarpid", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t { return b.warps.size(); }},
    {"WARP_SZ", Type::kU32, [](const Block&, const Warp&, uint32_t) -> uint64_t { return 32; }},
    {"%smid", Type::kU32, kZero},
    {"%nsmid", Type::kU32, kOne},
    {"%gridid", Type::kU64, kOne},
    {"%lanemask_eq", Type::kU32,
     [](const Block&, const Warp&, uint32_t l) -> uint64_t { return kLane[l]; }},
    {"%lanemask_lt", Type::kU32,
     [](const Block&, const Warp&, uint32_t l) -> uint64_t { return kLane[l] - 1; }},
    {"%lanemask_le", Type::kU32,
     [](const Block&, const Warp&, uint32_t l) -> uint64_t { return (kLane[l] << 1) - 1; }},
    {"%lanemask_ge", Type::kU32,
     [](const Block&, const Warp&, uint32_t l) -> uint64_t { return ~(kLane[l] - 1); }},
    {"%lanemask_gt", Type::kU32,
     [](const Block&, const Warp&, uint32_t l) -> uint64_t { return ~((kLane[l] << 1) - 1); }},
    {"%dynamic_smem_size", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t { return b.launch.dynamic_shared; }},
    {"%total_smem_size", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t {
       return b.shared.size() - b.launch.kernel.reserved_bytes;
     }},
    // The two halves of a pointer to the counter of grid.sync(), as cooperative groups read them.
    {"%envreg1", Type::kB32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t {
       return reinterpret_cast<uintptr_t>(b.launch.grid_barrier) >> 32;
     }},
    {"%envreg2", Type::kB32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t {
       return reinterpret_cast<uintptr_t>(b.launch.grid_barrier) & UINT32_MAX;
     }},
    {"%cluster_ctarank", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t { return b.rank; }},
    {"%cluster_nctarank", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t { return b.cluster->size(); }},
    {"%cluster_ctaid.x", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t { return index_in_cluster(b).x; }},
    {"%cluster_ctaid.y", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t { return index_in_cluster(b).y; }},
    {"%cluster_ctaid.z", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t { return index_in_cluster(b).z; }},
    {"%cluster_nctaid.x", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t { return b.launch.cluster.x; }},
    {"%cluster_nctaid.y", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t { return b.launch.cluster.y; }},
    {"%cluster_nctaid.z", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t { return b.launch.cluster.z; }},
    {"%clusterid.x", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t {
       return b.index.x / b.launch.cluster.x;
     },
     true},
    {"%clusterid.y", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t {
       return b.index.y / b.launch.cluster.y;
     },
     true},
    {"%clusterid.z", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t {
       return b.index.z / b.launch.cluster.z;
     },
     true},
    {"%nclusterid.x", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t {
       return b.launch.grid.x / b.launch.cluster.x;
     }},
    {"%nclusterid.y", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t {
       return b.launch.grid.y / b.launch.cluster.y;
     }},
    {"%nclusterid.z", Type::kU32,
     [](const Block& b, const Warp&, uint32_t) -> uint64_t {
       return b.launch.grid.z / b.launch.cluster.z;
     }},
};

}  // namespace

int special_named(const std::string& name) {
  int which = 0;
  for (const SpecialDefinition& row : kSpecials) {
    if (name == row.name) return which;
    ++which;
  }
  return -1;
}

Type type_of_special(const std::string& name) {
  const int which = special_named(name);
  return which >= 0 ? kSpecials[which].type : Type::kNone;
}

bool has_narrow_form(const std::string& name) {
  const std::string vector = name.substr(0, name.find('.'));
  return vector == "%tid" || vector == "%ntid" || vector == "%ctaid" || vector == "%nctaid";
}

bool is_of_block(const SpecialRegister& special) { return kSpecials[special.which].is_of_block; }

void set_special(Warp& warp, const SpecialRegister& special) {
  const SpecialDefinition& row = kSpecials[special.which];
  const bool of_block = is_of_block(special);
  uint64_t value = row.value(*warp.block, warp, 0);
  for (uint32_t l = 0; l < 32; ++l) {
    if (!of_block && l != 0) value = row.value(*warp.block, warp, l);
    if (special.is_narrow) {
      warp.lanes<uint16_t>(special.at)[l] = static_cast<uint16_t>(value);
    } else if (row.type == Type::kU64) {
      warp.lanes<uint64_t>(special.at)[l] = value;
    } else {
      warp.lanes<uint32_t>(special.at)[l] = static_cast<uint32_t>(value);
    }
  }
}

}  // namespace kernkit::simulator::ptx
