/// <reference path="../uws/uws.d.ts" />
import '../uws/native-file.js'
import { App, us_listen_socket_close } from 'uWebSockets.js'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { listeningSockets } from '../uws/receive-buffer.js'
import type { ListeningHandle } from './server-socket.js'

const PROGRAM = fileURLToPath(new URL('./reusable-socket-program.js', import.meta.url))
/** It takes 50 ms. */
const PROGRAM_MS = 10_000

/**
 * A socket of the system that listens with SO_REUSEPORT, for a Node.js that has no `reusePort` (before 22.12). Workers that a
 * killed supervisor has left behind would otherwise hold the port against those of the next one (docs/internals/adr/0017).
 *
 * uWebSockets.js binds it, and gives it up in the same turn, before it could accept anything; a child process has inherited
 * it meanwhile and sends it back. What connects in between waits.
 * @param count number of descriptors to return, which all stand for this one socket and its queue of connections.
 * @throws Error when the address cannot be bound, or the socket does not come back.
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
    child.on('close', () => reject(new Error('the socket of a listener did not come back from its process')))
  })
}
