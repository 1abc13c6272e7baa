import { type CidrSet, compileCidrs, definePolicy, type Exchange, type Outcome } from '@sluice/core'
import { withContext } from '../../shared/outcome/with-context.js'
import { ipFilterSchema } from './schema.js'

/** Default of `allow`: every valid address. */
const EVERY_ADDRESS: readonly string[] = ['0.0.0.0/0', '::/0']

/** Allows or denies callers by their IP address. */
export const ipFilter = definePolicy({
  name: 'ip-filter',
  summary: 'Allows or denies callers by their IP address.',
  schema: ipFilterSchema,
  decides: () => 'limit',
  compile(config, env) {
    if (config.allow === undefined && config.deny === undefined)
      throw new Error("neither 'allow' nor 'deny' is configured; list addresses under one of them")
    const isAllowed = decision(
      compileList('allow', config.allow ?? EVERY_ADDRESS),
      compileList('deny', config.deny ?? []),
    )
    const address = config.source === 'peer' ? peerAddress : clientAddress
    if (config.dryRun === true) return { name: 'ip-filter', onRequest: dryRun(isAllowed, address) }
    const denied = env.refusal(
      'GW_IP_DENIED',
      'requests from this address are not allowed; ask the operator of this API',
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
  if (list === 'allow' && ranges.length === 0)
    throw new Error("'allow' is empty, which would deny everyone; list addresses or remove it")
  return withContext(`under '${list}':`, () => compileCidrs(ranges))
}
