import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** What no engine may get hold of: it stands in a global, in the environment and in a file. */
export const PLANTED = 'zq7-planted-secret'
/** Nothing may hold the gateway up for longer, on a machine that is busy with other tests. */
const LONGEST_MS = 10_000
/** More memory than that is never kept of an attack. */
const MOST_BYTES = 512 * 1024 * 1024

export interface Bait {
  readonly file: string
  readonly url: string
  /** Requests that reached the server. */
  readonly visits: number
}

/** Plants the secret, and listens for whoever comes. */
export async function plant(t: TestContext): Promise<Bait> {
  const file = join(mkdtempSync(join(tmpdir(), 'planted-')), 'secret.txt')
  writeFileSync(file, PLANTED)
  const global = globalThis as unknown as Record<string, unknown>
  global['planted'] = PLANTED
  process.env['PLANTED'] = PLANTED
  let visits = 0
  const server: Server = createServer((_, response) => {
    visits++
    response.end(PLANTED)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    delete global['planted']
    delete process.env['PLANTED']
    server.close()
  })
  const { port } = server.address() as { port: number }
  return {
    file,
    url: `http://127.0.0.1:${port}/`,
    get visits() {
      return visits
    },
  }
}

/** What an attack came to, as text; it has to end, keep little, and reveal nothing. */
export async function outcomeOf(attack: () => unknown): Promise<string> {
  const startMono = performance.now()
  const before = process.memoryUsage().rss
  let text: string
  try {
    text = textOf(await attack())
  } catch (error) {
    text = `${(error as Error).message}`
  }
  assert.ok(performance.now() - startMono < LONGEST_MS, 'it took too long')
  assert.ok(process.memoryUsage().rss - before < MOST_BYTES, 'it took too much')
  assert.doesNotMatch(text, new RegExp(PLANTED))
  return text
}

function textOf(value: unknown): string {
  return (
    JSON.stringify(value, (_, part: unknown) =>
      part instanceof Uint8Array ? Buffer.from(part).toString() : part instanceof Map ? [...part] : part,
    ) ?? 'undefined'
  )
}
