import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { CacheSettings } from '../store/settings.js'

const PROGRAM = fileURLToPath(new URL('./cache-program.js', import.meta.url))

/** Default settings of cache servers in tests. */
export const CACHE_SETTINGS: CacheSettings = {
  host: '127.0.0.1',
  port: 0,
  tls: null,
  token: null,
  workers: 1,
  maxBytes: 8 * 1024 ** 2,
  maxObjectBytes: 512 * 1024,
  ttlMs: 3_600_000,
  spaces: [],
  connections: 100,
  persist: null,
}

/** A cache server in its own process, which can be killed or stopped. It is killed after the test. */
export class CacheProcess {
  readonly port: number
  readonly url: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, port: number) {
    this.#child = child
    this.port = port
    this.url = `http://127.0.0.1:${port}`
  }

  static async start(t: TestContext, settings: Partial<CacheSettings> = {}): Promise<CacheProcess> {
    const child = fork(PROGRAM, [JSON.stringify({ ...CACHE_SETTINGS, ...settings })])
    t.after(() => child.kill('SIGKILL'))
    const [port] = (await once(child, 'message')) as [number]
    return new CacheProcess(child, port)
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  async kill(): Promise<void> {
    const exit = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await exit
  }
}
