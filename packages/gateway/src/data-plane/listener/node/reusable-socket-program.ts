import net from 'node:net'

/**
 * A process of its own that sends the listening socket which it has inherited, descriptor 3, back to its parent and ends.
 * It never listens, so that it accepts nothing.
 */
const socket = new net.Socket({ fd: 3, readable: false, writable: false })
const { _handle: handle } = socket as unknown as { readonly _handle: net.Socket }
process.send?.('socket', handle, undefined, () => process.exit(0))
