import { renameSync, rmSync } from 'node:fs'
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'

/** Maximum length of a socket's path in bytes. Longer ones are cut off by the kernel. */
const MAX_PATH_BYTES = 100

/**
 * Locks a folder for this process: listens on a socket in it. The kernel closes the socket when the process dies,
 * and unlike a process id it also works across containers. Returns the function that unlocks the folder.
 * @throws Error if another process has locked it
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, 'lock')
  if (Buffer.byteLength(path) > MAX_PATH_BYTES)
    throw new Error(`the path of the folder ${folder} is too long; use at most ${MAX_PATH_BYTES - 5} bytes`)
  const server = (await listen(path)) ?? (await replaceStale(path))
  if (server === null) throw new Error(`another controller uses the folder ${folder}; stop it first`)
  return () => new Promise((resolve) => server.close(() => resolve()))
}

/** Replaces the socket of a dead process. Returns null if its process is alive. */
async function replaceStale(path: string): Promise<Server | null> {
  if (await isAnswering(path)) return null
  // Of several processes that get here, one renames the stale socket. Another one would rename the first one's new
  // socket, which answers, and puts it back.
  const aside = `${path}.${process.pid}`
  try {
    renameSync(path, aside)
  } catch {
    return listen(path)
  }
  if (await isAnswering(aside)) {
    renameSync(aside, path)
    return null
  }
  rmSync(aside, { force: true })
  return listen(path)
}

function isAnswering(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

/** Returns null if the path exists. */
function listen(path: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' ? resolve(null) : reject(error),
    )
    server.listen(path, () => {
      server.unref()
      resolve(server)
    })
  })
}
