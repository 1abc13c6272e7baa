import { type Deed, nothingMore } from '../deed.js'
import { NOTHING_LOST } from '../judgement.js'

/** Where the other origin serves. */
export const OTHER_ADDRESS = '127.0.0.2'

/** The name of the upstream means another address; what serves at the old one takes leave of its clients. */
export function dnsChange(): Deed {
  return {
    wish: { isNamed: true, hasOtherOrigin: true, isLeft: true },
    begin: async (stage) => {
      stage.rename(OTHER_ADDRESS)
      await stage.origin.steer({ isLeaving: true })
    },
    end: nothingMore,
    // Connections that nobody needed meanwhile are still those to the old address: a request each.
    expects: ({ connections }) => ({ ...NOTHING_LOST, strayRequests: connections }),
  }
}

/** A deploy names another target; the old one goes on serving. */
export function targetChange(): Deed {
  return {
    wish: { hasOtherOrigin: true, isLeft: true },
    begin: async ({ gateway, otherOrigin }) => {
      const targets = [otherOrigin!.url]
      await gateway.deploy((document) => ({
        ...document,
        upstreams: { origin: { ...document.upstreams['origin'], targets } },
      }))
    },
    end: nothingMore,
    expects: () => NOTHING_LOST,
  }
}
