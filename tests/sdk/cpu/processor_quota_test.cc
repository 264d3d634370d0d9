// SPDX-License-Identifier: Apache-2.0
#include "kernkit/cpu/impl/processor_quota.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace kernkit::cpu {
namespace {

// Creates a folder for each test, with replacements of the files in /proc and /sys from which the
// processor quota is read.
class CpuProcessorQuota : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string folder = std::filesystem::temp_directory_path() / "kernkit_quota_XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    root_ = folder;
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  int quota() const { return detail::processor_quota(root_.c_str()); }

 private:
  std::filesystem::path root_;
};

TEST_F(CpuProcessorQuota, NoFiles) { EXPECT_EQ(quota(), 0); }

TEST_F(CpuProcessorQuota, Version2RoundsUp) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/cpu.max", "max 100000\n");
  EXPECT_EQ(quota(), 0);
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(quota(), 2);
  write("sys/fs/cgroup/cpu.max", "250000 100000\n");
  EXPECT_EQ(quota(), 3);
  write("sys/fs/cgroup/cpu.max", "1000 100000\n");
  EXPECT_EQ(quota(), 1);
}

TEST_F(CpuProcessorQuota, SmallestOfTheGroupsThatContainTheProcess) {
  write("proc/self/cgroup", "0::/pods/one/job\n");
  write("sys/fs/cgroup/pods/one/job/cpu.max", "800000 100000\n");
  write("sys/fs/cgroup/pods/one/cpu.max", "400000 100000\n");
  write("sys/fs/cgroup/pods/cpu.max", "max 100000\n");
  write("sys/fs/cgroup/pods/two/cpu.max", "100000 100000\n");
  EXPECT_EQ(quota(), 4);
}

TEST_F(CpuProcessorQuota, GroupOfTheHostThatTheContainerDoesNotSee) {
  write("proc/self/cgroup", "0::/docker/0123abcd\n");
  write("sys/fs/cgroup/cpu.max", "300000 100000\n");
  EXPECT_EQ(quota(), 3);
}

TEST_F(CpuProcessorQuota, Version1) {
  write("proc/self/cgroup", "4:memory:/x\n3:cpu,cpuacct:/x\n2:cpuset:/\n0::/\n");
  write("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 0);
  write("sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us", "150000\n");
  EXPECT_EQ(quota(), 2);
}

TEST_F(CpuProcessorQuota, Version1WithAMountForOneController) {
  write("proc/self/cgroup", "3:cpuacct,cpu:/x\n");
  write("sys/fs/cgroup/cpu/x/cpu.cfs_quota_us", "300000\n");
  write("sys/fs/cgroup/cpu/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 3);
}

TEST_F(CpuProcessorQuota, DamagedFiles) {
  write("proc/self/cgroup", "x\n::\n0:\n0::/a\n");
  write("sys/fs/cgroup/a/cpu.max", "one two\n");
  write("sys/fs/cgroup/cpu.max", "100000 0\n");
  EXPECT_EQ(quota(), 0);
}

}  // namespace
}  // namespace kernkit::cpu
