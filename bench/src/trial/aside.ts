import type { TrialAside } from '../model/trial.js'
import { documentsFor } from './log-count.js'
import type { OpenStage } from './stage.js'
import type { SteadyLoad } from './steady-load.js'

/** What is asked for before, while and after something is done that may cost requests and records. */
const BEFORE = '/before'
const AROUND = '/around'
const AFTER = '/after'

/** Tells the requests of a trial that can be lost by what is done from those that cannot. */
export class Aside {
  readonly #load: Pick<SteadyLoad, 'askFor' | 'paths'>

  constructor(load: Pick<SteadyLoad, 'askFor' | 'paths'>) {
    this.#load = load
    load.askFor(BEFORE)
  }

  /** What is sent from now on may be lost by what is done. */
  begin(): void {
    this.#load.askFor(AROUND)
  }

  /** What is sent from now on may not. */
  end(): void {
    this.#load.askFor(AFTER)
  }

  /** What became of those that may not be lost, once all is answered and delivered. */
  async losses({ node, stream }: Pick<OpenStage, 'node' | 'stream'>): Promise<TrialAside> {
    const paths = [BEFORE, AFTER]
    const accounts = paths.flatMap((path) => this.#load.paths.get(path) ?? [])
    const sum = (name: 'answered' | 'unanswered' | 'cutOff'): number =>
      accounts.reduce((all, account) => all + account[name], 0)
    const answered = sum('answered')
    const documents = node === null ? answered : await documentsFor({ node, stream }, paths)
    return { unanswered: sum('unanswered'), cutOff: sum('cutOff'), missing: answered - documents }
  }
}
