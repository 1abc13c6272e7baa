import net from 'node:net'

/**
 * A program that sends its inherited listening socket (descriptor 3) back to its parent several times, and exits. Its
 * argument is the number of times. Each message carries a new descriptor of the same socket. The program does not
 * listen itself, so it accepts no connections.
 */
const socket = new net.Socket({ fd: 3, readable: false, writable: false })
const { _handle: handle } = socket as unknown as { readonly _handle: net.Socket }
// Each descriptor is sent once the parent has acknowledged the previous one over the channel.
process.channel?.ref()
let left = Number(process.argv[2])
for (let i = left; i > 0; i--)
  process.send?.('socket', handle, undefined, () => --left > 0 || process.exit(0))
