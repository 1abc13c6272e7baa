import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { cpuMs } from '@sluice/core/testing'

/** Secret that no engine may obtain. It is in a global variable, in the environment and in a file. */
export const PLANTED = 'zq7-planted-secret'
/** Maximum CPU time of an attack. */
const MOST_CPU_MS = 10_000
/** Maximum memory that may remain allocated after an attack. */
const MOST_BYTES = 512 * 1024 * 1024

export interface Bait {
  readonly file: string
  readonly url: string
  /** Requests that reached the server. */
  readonly visits: number
}

/** Plants the secret and starts the server. */
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

/** Returns the result of an attack as text. The attack must end, keep little memory, and reveal nothing. */
export async function outcomeOf(attack: () => unknown): Promise<string> {
  const beforeMs = cpuMs()
  const before = process.memoryUsage().rss
  let text: string
  try {
    text = textOf(await attack())
  } catch (error) {
    text = `${(error as Error).message}`
  }
  assert.ok(cpuMs() - beforeMs < MOST_CPU_MS, 'it took too long')
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
