import type { ServerResponse } from 'node:http'

/** Output of a streamed answer. */
export interface StreamOutput {
  /** Sends a text. Returns false, and sends nothing, if the client is too slow or has disconnected. */
  write(text: string): boolean
  end(): void
}

/** Body of a streamed answer. It starts with the response and returns a function that is called once when it ends. */
export type AnswerStream = (output: StreamOutput) => () => void

/** Maximum number of unsent bytes. */
const MAX_WAITING_BYTES = 4 * 1024 * 1024

/** Streams a body after the head was written. */
export function streamTo(response: ServerResponse, stream: AnswerStream): void {
  response.flushHeaders()
  const stop = stream({
    write(text) {
      if (response.destroyed || response.writableEnded || response.writableLength > MAX_WAITING_BYTES)
        return false
      response.write(text)
      return true
    },
    end: () => response.end(),
  })
  response.once('close', stop)
}
