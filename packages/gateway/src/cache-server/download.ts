import { Transfer } from './transfer.js'

/** Threshold in bytes. Smaller values are not counted, because a connection can buffer one. */
export const LARGE_BYTES = 16 * 1024

/** A large value being sent. Bytes that the client does not read yet are buffered for a while, within the limits. */
export class Download extends Transfer {
  send(headers: readonly string[], value: Uint8Array): void {
    const { client } = this
    client.start(200, headers, value.length)
    if (client.write(value) || client.isGone) return
    if (this.hold(client.unsentBytes)) this.open()
    else client.abort()
  }

  override onClientDrain(): void {
    this.close()
  }

  onDeadline(): void {
    this.client.abort()
    this.close()
  }
}
