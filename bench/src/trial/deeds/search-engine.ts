import { type Deed, nothingMore, type TrialStage } from '../deed.js'
import { NOTHING_LOST } from '../judgement.js'

/** The node of the traffic log is ended by force, and started again. */
export function elasticsearchDown(): Deed {
  return {
    begin: ({ node }) => node?.kill() ?? nothingMore(),
    end: (stage) => stage.restartNode(),
    expects: () => NOTHING_LOST,
  }
}

/** It stands still with its sockets open, and goes on. */
export function elasticsearchSlow(): Deed {
  return {
    begin: async ({ node }: TrialStage) => node?.pause(),
    end: async ({ node }) => {
      node?.resume()
      await node?.request('GET', '/_cluster/health')
    },
    expects: () => NOTHING_LOST,
  }
}
