import assert from 'node:assert/strict'
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Pair } from '@sluice/policies/testing'

const home = process.env['SLUICE_WSS4J_HOME']
const SOURCE = join(import.meta.dirname, '../../../../src/content/ws-security/testing/Wss4jPeer.java')

/** Option `skip` of tests against WSS4J: the reason if it is not installed. */
export const wss4jSkip: string | false =
  home === undefined && 'no WSS4J; use npm test, or npm run services and the variable that it prints'

/** Response of WSS4J: a result, or the reason of a failure. */
export type Wss4jAnswer =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string }

/** A WSS4J process that handles one call at a time. */
export class Wss4jPeer {
  readonly #child: ChildProcessWithoutNullStreams
  readonly #lines: AsyncIterator<string>
  #complaints = ''

  /** @throws Error if it is not installed */
  constructor() {
    if (home === undefined) throw new Error('WSS4J is missing; npm run services installs it')
    // Compiles and runs the source. The fast compiler is enough for a few dozen messages.
    const options = ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto', '-Xmx256m']
    const classpath = join(home, '*')
    this.#child = spawn('java', [...options, '-cp', classpath, '--source', '17', SOURCE])
    this.#child.stderr.on('data', (part: Buffer) => {
      this.#complaints = (this.#complaints + part.toString()).slice(-4000)
    })
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]()
  }

  /** Sets the pair to sign, decrypt and trust with. */
  async useKeys({ key, der }: Pair): Promise<void> {
    const algorithm = key.asymmetricKeyType === 'ec' ? 'EC' : 'RSA'
    const pkcs8 = key.export({ type: 'pkcs8', format: 'der' }).toString('base64')
    const answer = await this.#ask('keys', { algorithm }, `${pkcs8}:${der.toString('base64')}`)
    assert.ok(answer.ok, JSON.stringify(answer))
  }

  /** Returns the message with a Security header by WSS4J. */
  async secure(message: string, options: Readonly<Record<string, string>>): Promise<string> {
    const answer = await this.#ask('secure', options, Buffer.from(message).toString('base64'))
    assert.ok(answer.ok, JSON.stringify(answer))
    return answer.text
  }

  /** Checks a message with WSS4J. Returns the numbers of the actions found, and the processed message. */
  check(message: string, options: Readonly<Record<string, string>> = {}): Promise<Wss4jAnswer> {
    return this.#ask('check', options, Buffer.from(message).toString('base64'))
  }

  async close(): Promise<void> {
    this.#child.stdin.end()
    if (this.#child.exitCode === null) await once(this.#child, 'exit')
  }

  async #ask(verb: string, options: Readonly<Record<string, string>>, payload: string): Promise<Wss4jAnswer> {
    const list = Object.entries(options).map(([name, value]) => `${name}=${value}`)
    this.#child.stdin.write(`${verb}\t${list.join(',')}\t${payload}\n`)
    const { value, done } = await this.#lines.next()
    if (done === true) throw new Error(`WSS4J ended: ${this.#complaints}`)
    const [status, encoded = ''] = value.split('\t')
    const text = Buffer.from(encoded, 'base64').toString()
    return status === 'ok' ? { ok: true, text } : { ok: false, reason: text }
  }
}
