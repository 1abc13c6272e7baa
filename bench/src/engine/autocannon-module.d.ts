/** The parts of autocannon 9.0.0, which has no types, that our program uses. */
declare module 'autocannon' {
  import type { AutocannonClient } from './paced-client.js'

  interface Options {
    readonly url: string
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: Buffer | undefined
    readonly connections: number
    readonly duration: number
    readonly timeout: number
    setupClient(client: AutocannonClient): void
  }

  function autocannon(options: Options, whenDone: (error: Error | null) => void): unknown
  export = autocannon
}
