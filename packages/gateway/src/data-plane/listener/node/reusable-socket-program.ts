import net from 'node:net'

/**
 * A process of its own that sends the listening socket which it has inherited, descriptor 3, back to its parent, as often as
 * its argument says, and ends. Each time its parent gets another descriptor of the same socket.
 * It never listens, so that it accepts nothing.
 */
const socket = new net.Socket({ fd: 3, readable: false, writable: false })
const { _handle: handle } = socket as unknown as { readonly _handle: net.Socket }
// Each is sent when the one before has arrived, which the parent says over the channel.
process.channel?.ref()
let left = Number(process.argv[2])
for (let i = left; i > 0; i--)
  process.send?.('socket', handle, undefined, () => --left > 0 || process.exit(0))
