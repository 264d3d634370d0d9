// SPDX-License-Identifier: Apache-2.0
// Lists of CUDA_VISIBLE_DEVICES. A test of kernkit run in tests/project uses the lists in programs.
#include "runtime/visible_devices.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kernkit::simulator {
namespace {

using Numbers = std::vector<int>;

TEST(VisibleDevices, AListSelectsDevicesInItsOrder) {
  EXPECT_EQ(select_devices("0,1,2", 3), (Numbers{0, 1, 2}));
  EXPECT_EQ(select_devices("2,0", 3), (Numbers{2, 0}));
  EXPECT_EQ(select_devices(" 1, 2gpu", 3), (Numbers{1, 2}));
}

TEST(VisibleDevices, AnInvalidEntryEndsTheList) {
  EXPECT_EQ(select_devices("0,2,-1,1", 3), (Numbers{0, 2}));
  EXPECT_EQ(select_devices("1,3,0", 3), Numbers{1});
  EXPECT_EQ(select_devices("1,,0", 3), Numbers{1});
  EXPECT_EQ(select_devices("1,gpu,0", 3), Numbers{1});
  EXPECT_EQ(select_devices("99999999999999999999", 3), Numbers{});
  for (const char* list : {"", "-1", "3", "gpu", ",0"})
    EXPECT_EQ(select_devices(list, 3), Numbers{});
  EXPECT_EQ(select_devices("0", 0), Numbers{});
}

TEST(VisibleDevices, ADeviceThatOccursTwiceMakesTheListEmpty) {
  EXPECT_EQ(select_devices("0,1,0", 3), Numbers{});
  EXPECT_EQ(select_devices("1," + uuid_text(1), 3), Numbers{});
  EXPECT_EQ(select_devices("0,5,0", 3), Numbers{0}) << "the list ends at 5";
}

TEST(VisibleDevices, AnEntryIsTheBeginningOfOneUuid) {
  EXPECT_EQ(uuid_text(10), "GPU-6b65726e-6b69-7400-0000-00000000000a");
  EXPECT_EQ(select_devices(uuid_text(2) + "," + uuid_text(0), 3), (Numbers{2, 0}));
  EXPECT_EQ(select_devices("GPU-6b65", 1), Numbers{0});
  EXPECT_EQ(select_devices("GPU-6b65", 2), Numbers{}) << "two devices have this beginning";
  EXPECT_EQ(select_devices("GPU-1", 1), Numbers{});
  EXPECT_EQ(select_devices("MIG-" + uuid_text(0), 1), Numbers{});
}

}  // namespace
}  // namespace kernkit::simulator
