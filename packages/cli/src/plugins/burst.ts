import net from 'node:net'

/** Number of concurrent connections. */
const CLIENTS = 16

/**
 * Sends requests on keep-alive connections with a cheap client. Resolves when all are answered.
 * @throws Error if a connection cannot be opened
 */
export async function burst(url: URL, path: string, requests: number): Promise<void> {
  const bytes = `GET ${path} HTTP/1.1\r\nhost: ${url.host}\r\n\r\n`
  const counter = { left: requests }
  await Promise.all(Array.from({ length: CLIENTS }, () => ask(url, bytes, counter)))
}

/** Sends requests, and reconnects if the gateway closes the connection after a rejection. */
async function ask(url: URL, bytes: string, counter: { left: number }): Promise<void> {
  while (counter.left > 0) await askUntilClosed(url, bytes, counter)
}

function askUntilClosed(url: URL, bytes: string, counter: { left: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = net.connect(Number(url.port), url.hostname)
    const next = (): void => {
      if (counter.left-- > 0) socket.write(bytes)
      else socket.destroy()
    }
    socket.once('connect', next)
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      if (!isWhole(text)) return
      text = ''
      next()
    })
    socket.once('error', reject)
    socket.once('close', () => resolve())
  })
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return false
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end))?.[1] ?? 0)
  return text.length >= end + 4 + length
}
