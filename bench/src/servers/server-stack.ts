import type { RunningServer } from './running-server.js'

type Stoppable = Pick<RunningServer, 'stop'>

/** What was started for one measurement. */
export class ServerStack {
  readonly #started: Stoppable[] = []

  async add<T extends Stoppable>(starting: Promise<T>): Promise<T> {
    const server = await starting
    this.#started.push(server)
    return server
  }

  /**
   * Ends the last one first, so that nobody in front of an origin writes errors while it stops; also those behind one that
   * cannot be ended. @throws Error when there was one.
   */
  async stop(): Promise<void> {
    const errors: unknown[] = []
    for (const server of this.#started.splice(0).toReversed())
      await server.stop().catch((error: unknown) => errors.push(error))
    if (errors.length > 0) throw errors[0]
  }
}
