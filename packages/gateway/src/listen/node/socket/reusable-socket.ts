/// <reference path="../../uws/uws.d.ts" />
import '../../uws/native-file.js'
import { App, us_listen_socket_close } from 'uWebSockets.js'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { listeningSockets } from '../../uws/receive-buffer.js'
import type { ListeningHandle } from './server-socket.js'

const PROGRAM = fileURLToPath(new URL('./reusable-socket-program.js', import.meta.url))
/** Timeout of the helper program, in milliseconds. It takes 50 ms. */
const PROGRAM_MS = 10_000

/**
 * Opens a listening socket with SO_REUSEPORT for a Node.js without `reusePort` (before 22.12). Otherwise, workers left
 * by a killed supervisor would block the port for those of the next one (docs/internals/adr/0017).
 *
 * uWebSockets.js binds the socket and closes it in the same turn, before it can accept a connection. A child process
 * has inherited it by then, and sends it back. New connections wait meanwhile.
 * @param count number of descriptors to return, all for the same socket and its queue.
 * @throws Error if the address cannot be bound, or if the socket is not sent back.
 */
export async function reusableSocket(host: string, port: number, count: number): Promise<ListeningHandle[]> {
  const before = new Set(listeningSockets([port]))
  const app = App()
  let child: ReturnType<typeof startProgram> | null = null
  app.listen(host, port, (socket) => {
    if (socket === false) return
    const [fd] = listeningSockets([port]).filter((each) => !before.has(each))
    if (fd !== undefined) child = startProgram(fd, count)
    us_listen_socket_close(socket)
  })
  app.close()
  if (child === null)
    throw new Error(`cannot listen on ${host}:${port}; is another process using the address?`)
  return sentBack(child, count)
}

function startProgram(fd: number, count: number) {
  return spawn(process.execPath, [PROGRAM, String(count)], {
    stdio: ['ignore', 'ignore', 'ignore', fd, 'ipc'],
    env: {},
    timeout: PROGRAM_MS,
    killSignal: 'SIGKILL',
  })
}

function sentBack(child: ReturnType<typeof startProgram>, count: number): Promise<ListeningHandle[]> {
  const handles: ListeningHandle[] = []
  return new Promise((resolve, reject) => {
    child.on('message', (_message, handle: unknown) => {
      if (handles.push(handle as ListeningHandle) === count) resolve(handles)
    })
    child.on('error', reject)
    child.on('close', () =>
      reject(new Error('the helper process exited without returning the listening socket')),
    )
  })
}
