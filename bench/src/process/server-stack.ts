import type { RunningServer } from './running-server.js'

type Stoppable = Pick<RunningServer, 'stop'>

/** The servers of one measurement. */
export class ServerStack {
  readonly #started: Stoppable[] = []

  async add<T extends Stoppable>(starting: Promise<T>): Promise<T> {
    const server = await starting
    this.#started.push(server)
    return server
  }

  /**
   * Stops all servers, the last one first, so that no proxy logs errors about a stopped origin.
   * @throws Error if one could not be stopped. The others are stopped anyway.
   */
  async stop(): Promise<void> {
    const errors: unknown[] = []
    for (const server of this.#started.splice(0).toReversed())
      await server.stop().catch((error: unknown) => errors.push(error))
    if (errors.length > 0) throw errors[0]
  }
}
