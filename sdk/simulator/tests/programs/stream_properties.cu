// SPDX-License-Identifier: Apache-2.0
// Properties of streams and devices that a program reads back: flags, priorities, devices and
// identifiers of streams, callbacks, flags and bus addresses of devices. Also copies of rows that
// are longer than their pitch, which are errors.
#include <cstring>

#include "expect.h"

__global__ void add(int* x) { *x += 1; }

struct CallbackRecord {
  int *x, value = 0, calls = 0;
  cudaStream_t stream = nullptr;
  cudaError_t status = cudaErrorUnknown;
};
void CUDART_CB note(cudaStream_t stream, cudaError_t status, void* data) {
  CallbackRecord& record = *static_cast<CallbackRecord*>(data);
  record.value = *record.x;
  record.stream = stream;
  record.status = status;
  ++record.calls;
}

int main() {
  int least = 0, greatest = 0, value = -1;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t blocking, urgent, beyond;
  check(cudaStreamCreate(&blocking));
  check(cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, greatest));
  check(cudaStreamCreateWithPriority(&beyond, cudaStreamDefault, least + 100));
  unsigned flags = 7;
  check(cudaStreamGetFlags(blocking, &flags));
  EXPECT(unsigned{cudaStreamDefault}, flags);
  check(cudaStreamGetFlags(urgent, &flags));
  EXPECT(unsigned{cudaStreamNonBlocking}, flags);
  check(cudaStreamGetPriority(urgent, &value));
  EXPECT(greatest, value);
  for (cudaStream_t stream : {blocking, beyond, cudaStream_t{nullptr}}) {
    check(cudaStreamGetPriority(stream, &value));
    EXPECT(least, value);  // a value outside of the range is clamped
    check(cudaStreamGetDevice(stream, &value));
    EXPECT(0, value);
  }
  unsigned long long first = 0, second = 0, again = 0;
  check(cudaStreamGetId(blocking, &first));
  check(cudaStreamGetId(urgent, &second));
  check(cudaStreamGetId(blocking, &again));
  EXPECT(true, first != second && first == again);
  EXPECT(cudaErrorInvalidValue, cudaStreamGetFlags(blocking, nullptr));

  CallbackRecord record;
  check(cudaMallocManaged(&record.x, sizeof(int)));
  *record.x = 0;
  add<<<1, 1, 0, urgent>>>(record.x);
  check(cudaStreamAddCallback(urgent, note, &record, 0));
  add<<<1, 1, 0, urgent>>>(record.x);
  check(cudaStreamSynchronize(urgent));
  EXPECT(1, record.value);
  EXPECT(2, *record.x);
  EXPECT(1, record.calls);
  EXPECT(true, record.stream == urgent);
  EXPECT(cudaSuccess, record.status);
  EXPECT(cudaErrorInvalidValue, cudaStreamAddCallback(urgent, note, &record, 1));
  EXPECT(cudaErrorInvalidValue, cudaStreamAddCallback(urgent, nullptr, &record, 0));
  check(cudaStreamBeginCapture(urgent, cudaStreamCaptureModeRelaxed));
  EXPECT(cudaErrorStreamCaptureUnsupported, cudaStreamAddCallback(urgent, note, &record, 0));
  cudaGraph_t graph;
  EXPECT(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(urgent, &graph));

  cudaEvent_t event;
  check(cudaEventCreate(&event));
  check(cudaEventRecordWithFlags(event, urgent, cudaEventRecordDefault));
  check(cudaEventSynchronize(event));
  EXPECT(cudaErrorInvalidValue, cudaEventRecordWithFlags(event, urgent, 2));

  check(cudaGetDeviceFlags(&flags));
  EXPECT(0u, flags & cudaDeviceScheduleMask);
  check(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  check(cudaGetDeviceFlags(&flags));
  EXPECT(unsigned{cudaDeviceScheduleBlockingSync}, flags & cudaDeviceScheduleMask);
  EXPECT(cudaErrorInvalidValue, cudaSetDeviceFlags(3));
  char address[16] = "";
  check(cudaDeviceGetPCIBusId(address, sizeof(address), 0));
  EXPECT(0, std::strcmp(address, "0000:00:00.0"));
  check(cudaDeviceGetByPCIBusId(&value, address));
  EXPECT(0, value);
  EXPECT(cudaErrorInvalidDevice, cudaDeviceGetByPCIBusId(&value, "0000:77:00.0"));
  EXPECT(cudaErrorInvalidValue, cudaDeviceGetByPCIBusId(&value, "none"));
  EXPECT(cudaErrorInvalidValue, cudaDeviceGetPCIBusId(address, 12, 0));
  EXPECT(cudaErrorInvalidDevice, cudaDeviceGetPCIBusId(address, sizeof(address), 5));

  char* rows;
  size_t pitch;
  char copied[4 * 30];
  check(cudaMallocPitch(&rows, &pitch, 40, 4));
  EXPECT(cudaErrorInvalidPitchValue,
         cudaMemcpy2D(copied, 30, rows, pitch, 40, 4, cudaMemcpyDeviceToHost));
  EXPECT(cudaErrorInvalidPitchValue,
         cudaMemcpy2DAsync(rows, 39, copied, 40, 40, 1, cudaMemcpyHostToDevice, urgent));
  check(cudaMemcpy2D(copied, 30, rows, pitch, 30, 4, cudaMemcpyDeviceToHost));
  return verdict("stream_properties", passed);
}
