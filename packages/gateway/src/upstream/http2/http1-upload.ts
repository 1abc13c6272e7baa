import type { UploadSink, WireUpload } from '../http1/wire-upload.js'
import { ReadableUpload } from '../transport/readable-upload.js'

/** Passes an upload on to a transport that reads streams. */
class StreamSink implements UploadSink {
  readonly stream: ReadableUpload

  constructor(upload: WireUpload) {
    this.stream = new ReadableUpload(upload.length, () => upload.flush())
    this.stream.on('close', () => upload.destroy())
  }

  get unsentBytes(): number {
    return this.stream.readableLength
  }

  write(bytes: Uint8Array): boolean {
    return this.stream.add(bytes)
  }

  onUploadEnd(trailers: readonly string[] | null): void {
    this.stream.end(trailers)
  }

  onUploadBroken(): void {
    this.stream.destroy(new Error('the upload is incomplete'))
  }
}

/** Returns an upload for HTTP/2 as an upload for the fallback transport. */
export function http1Upload(upload: WireUpload): ReadableUpload {
  const sink = new StreamSink(upload)
  upload.attach(sink)
  return sink.stream
}
