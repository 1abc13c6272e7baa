import { type CidrSet, compileCidrs, definePolicy, type Exchange, type Outcome } from '@sluice/core'
import { withContext } from '../../shared/with-context.js'
import { ipFilterSchema } from './schema.js'

/** Without an allow list every address is allowed, but still only what is an address. */
const EVERY_ADDRESS: readonly string[] = ['0.0.0.0/0', '::/0']

/** Refuses callers by their address. */
export const ipFilter = definePolicy({
  name: 'ip-filter',
  summary: 'Lets callers in or keeps them out by their IP address.',
  schema: ipFilterSchema,
  compile(config, env) {
    if (config.allow === undefined && config.deny === undefined) {
      throw new Error("neither 'allow' nor 'deny' is given; list addresses under one of them")
    }
    const isAllowed = decision(
      compileList('allow', config.allow ?? EVERY_ADDRESS),
      compileList('deny', config.deny ?? []),
    )
    const address = config.source === 'peer' ? peerAddress : clientAddress
    if (config.dryRun === true) return { name: 'ip-filter', onRequest: dryRun(isAllowed, address) }
    const denied = env.refusal(
      'GW_IP_DENIED',
      'calls from this address are not allowed; ask the operator of this API',
    )
    return { name: 'ip-filter', onRequest: (x: Exchange) => (isAllowed(address(x)) ? null : denied) }
  },
})

type Decision = (ip: string) => boolean

function decision(allow: CidrSet, deny: CidrSet): Decision {
  return (ip) => allow.has(ip) && !deny.hasOrTunnels(ip)
}

function dryRun(isAllowed: Decision, address: (x: Exchange) => string): (x: Exchange) => Outcome {
  return (x) => {
    if (!isAllowed(address(x))) x.setVar('ip-filter', 'would-deny')
    return null
  }
}

function clientAddress(x: Exchange): string {
  return x.clientIp
}

function peerAddress(x: Exchange): string {
  return x.peer
}

function compileList(list: 'allow' | 'deny', ranges: readonly string[]): CidrSet {
  if (list === 'allow' && ranges.length === 0) {
    throw new Error("'allow' is empty, which would refuse everybody; list addresses or leave it out")
  }
  return withContext(`under '${list}':`, () => compileCidrs(ranges))
}
