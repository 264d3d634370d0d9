// SPDX-License-Identifier: Apache-2.0
// A volume of pitched rows in slices is copied to the device and modified, and a box of the volume
// is copied back to another place. The padding of each row keeps the value that cudaMemset3D()
// stored.
#include <algorithm>
#include <vector>

#include "check.h"

__global__ void add_neighbours(cudaPitchedPtr x, cudaPitchedPtr y, cudaExtent size) {
  const size_t column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column == 0 || column + 1 >= size.width) return;
  const size_t row = blockIdx.z * size.height + blockIdx.y;
  const int* from = reinterpret_cast<int*>(static_cast<char*>(x.ptr) + row * x.pitch);
  int* to = reinterpret_cast<int*>(static_cast<char*>(y.ptr) + row * y.pitch);
  to[column] = from[column - 1] + from[column + 1];
}

int value(int column, int row, int slice) { return column * 7 + row * 31 - slice * 101; }

int main() {
  const int columns = 45, rows = 6, slices = 5;
  const cudaExtent bytes = make_cudaExtent(columns * sizeof(int), rows, slices);
  cudaPitchedPtr x, y;
  check(cudaMalloc3D(&x, bytes));
  check(cudaMalloc3D(&y, bytes));
  bool passed =
      x.xsize == bytes.width && x.ysize == bytes.height && x.pitch >= x.xsize && x.pitch % 512 == 0;
  std::vector<int> volume(columns * rows * slices);
  for (int i = 0; i < columns * rows * slices; ++i) {
    volume[i] = value(i % columns, i / columns % rows, i / columns / rows);
  }
  cudaMemcpy3DParms to_device = {};
  to_device.srcPtr = make_cudaPitchedPtr(volume.data(), bytes.width, bytes.width, rows);
  to_device.dstPtr = x;
  to_device.extent = bytes;
  to_device.kind = cudaMemcpyHostToDevice;
  check(cudaMemcpy3D(&to_device));
  check(cudaMemset3D(y, 0x11, make_cudaExtent(y.pitch, rows, slices)));
  check(cudaMemset3DAsync(y, 0x22, bytes, nullptr));
  const cudaExtent size = make_cudaExtent(columns, rows, slices);
  add_neighbours<<<dim3((columns + 31) / 32, rows, slices), 32>>>(x, y, size);
  check(cudaGetLastError());

  // Copies columns 3 to 40 of rows 2 to 4 in slices 1 to 3 to the host, starting at row 1 of slice
  // 1.
  const int box[] = {38, 3, 3}, extra = 2;
  const size_t pitch = box[0] * sizeof(int) + 8;
  std::vector<char> back((1 + box[2]) * (box[1] + extra) * pitch, 0x55);
  cudaMemcpy3DParms to_host = {};
  to_host.srcPtr = y;
  to_host.srcPos = make_cudaPos(3 * sizeof(int), 2, 1);
  to_host.dstPtr = make_cudaPitchedPtr(back.data(), pitch, pitch, box[1] + extra);
  to_host.dstPos = make_cudaPos(4, 1, 1);
  to_host.extent = make_cudaExtent(box[0] * sizeof(int), box[1], box[2]);
  to_host.kind = cudaMemcpyDeviceToHost;
  check(cudaMemcpy3DAsync(&to_host, nullptr));
  check(cudaDeviceSynchronize());
  std::vector<char> expected(back.size(), 0x55);
  for (int slice = 0; slice < box[2]; ++slice) {
    for (int row = 0; row < box[1]; ++row) {
      std::vector<int> line(box[0]);
      for (int i = 0; i < box[0]; ++i) {
        line[i] = value(i + 2, row + 2, slice + 1) + value(i + 4, row + 2, slice + 1);
      }
      const auto* first = reinterpret_cast<const char*>(line.data());
      const size_t at = ((1 + slice) * (box[1] + extra) + 1 + row) * pitch + 4;
      std::copy(first, first + box[0] * sizeof(int), expected.begin() + at);
    }
  }
  passed = passed && back == expected;

  std::vector<unsigned char> padded(y.pitch * rows * slices);
  check(cudaMemcpy(padded.data(), y.ptr, padded.size(), cudaMemcpyDeviceToHost));
  for (size_t i = 0; i < padded.size(); ++i) {
    const size_t in_row = i % y.pitch;
    if (in_row >= y.xsize) passed = passed && padded[i] == 0x11;
    if (in_row < sizeof(int)) passed = passed && padded[i] == 0x22;
  }

  to_host.srcPos = make_cudaPos(3 * sizeof(int), 4, 1);  // the last row exceeds the slice
  passed = passed && cudaMemcpy3D(&to_host) == cudaErrorInvalidValue;
  passed =
      passed && cudaMemset3D(y, 0, make_cudaExtent(y.pitch + 1, 1, 1)) == cudaErrorInvalidValue;
  // If the last slice exceeds the memory, no slice is written.
  const cudaExtent deeper = make_cudaExtent(sizeof(int), rows, slices + 1);
  passed = passed && cudaMemset3D(y, 0x33, deeper) == cudaErrorInvalidValue;
  std::vector<unsigned char> after(padded.size());
  check(cudaMemcpy(after.data(), y.ptr, after.size(), cudaMemcpyDeviceToHost));
  passed = passed && after == padded;
  const cudaExtent too_many = make_cudaExtent(1, size_t{1} << 40, size_t{1} << 40);
  cudaPitchedPtr none;
  passed = passed && cudaMalloc3D(&none, too_many) == cudaErrorMemoryAllocation;
  const auto large = cudaMallocPitch(&none.ptr, &none.pitch, 1, size_t{1} << 60);
  passed = passed && large == cudaErrorMemoryAllocation;
  // A call that waits for the device is not permitted during a capture and invalidates the capture.
  cudaStream_t stream;
  cudaGraph_t graph = nullptr;
  to_host.srcPos = make_cudaPos(3 * sizeof(int), 2, 1);
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  for (const bool copies : {true, false}) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    const auto waits = copies ? cudaMemcpy3D(&to_host) : cudaMemset3D(y, 0, bytes);
    passed = passed && waits == cudaErrorStreamCaptureUnsupported;
    passed = passed && cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated;
  }
  check(cudaStreamDestroy(stream));
  check(cudaFree(x.ptr));
  check(cudaFree(y.ptr));
  return verdict("volume", passed);
}
