import { once } from 'node:events'
import { outliveReader, print, say, secretInFile, untilSignal, usageError } from '@sluice/cli/kit'
import { isIssue, isLoopback, parseAddress } from '@sluice/config'
import { serveAgent } from '../agent/agent-server.js'
import { AGENT_ROLES, type AgentAddresses } from '../model/run.js'
import { mendable } from './settings.js'

interface AgentFlags {
  readonly listen: string
  readonly tokenFile?: string
  readonly tlsCert?: string
  readonly tlsKey?: string
}

/** Options of a run on agents. */
export interface AgentsFlags {
  readonly agents?: string
  readonly agentTokenFile?: string
}

const MAX_RUN_MS = 24 * 3_600_000
const TOKEN = /^[\x21-\x7e]{16,4096}$/
const AGENT = /^(generator|origin|gateway)=(https?:\/\/)?([\w.-]+:\d{1,5})$/
const SAMPLE = 'generator=10.0.0.1:9700,origin=10.0.0.2:9700,gateway=10.0.0.3:9700'

/** `gw bench agent`: runs load generator, origin or gateway for `gw bench run --agents`, until a signal. */
export async function benchAgent({ listen, tokenFile, tlsCert, tlsKey }: AgentFlags) {
  const address = parseAddress(listen)
  if (isIssue(address)) throw usageError(`--listen: ${address.message}; ${address.remedy}`)
  const { host, port } = address
  const token = tokenOf(tokenFile)
  if (token === null && !isLoopback(host))
    throw usageError(`other machines can reach ${host}; add --token-file, or set GW_BENCH_TOKEN`)
  if ((tlsCert === undefined) !== (tlsKey === undefined))
    throw usageError('--tls-cert and --tls-key must be used together')
  const tls = tlsCert === undefined || tlsKey === undefined ? null : { cert: tlsCert, key: tlsKey }
  if (tls === null && !isLoopback(host)) say('without --tls-cert, the token is sent unencrypted')
  const { signal } = untilSignal()
  const agent = await serveAgent({ host, port, token, tls, maxRunMs: MAX_RUN_MS }).catch((error: unknown) => {
    throw mendable(error)
  })
  outliveReader()
  print(`agent on ${tls === null ? 'http' : 'https'}://${host}:${agent.port}`)
  if (!signal.aborted) await once(signal, 'abort')
  await agent.stop()
}

/** Returns the agents of a run, or null without `--agents`. @throws Failure */
export function agentsOf({ agents, agentTokenFile }: AgentsFlags): AgentAddresses | null {
  if (agents === undefined) return null
  const pairs = agents.split(',').map((part) => {
    const [, role = '', scheme = 'http://', host = ''] = AGENT.exec(part.trim()) ?? []
    return [role, URL.canParse(scheme + host) ? scheme + host : ''] as const
  })
  const origins = Object.fromEntries(pairs) as Record<(typeof AGENT_ROLES)[number], string>
  if (pairs.length !== AGENT_ROLES.length || AGENT_ROLES.some((role) => !origins[role]))
    throw usageError(
      `--agents: '${agents}' does not name an agent for each role; write for example ${SAMPLE}`,
    )
  return { ...origins, token: tokenOf(agentTokenFile) }
}

/** The variable is removed, so that no child process inherits it. */
function tokenOf(file: string | undefined): string | null {
  const token = file === undefined ? (process.env['GW_BENCH_TOKEN'] ?? '') : secretInFile(file, 'token file')
  delete process.env['GW_BENCH_TOKEN']
  if (token === '' && file === undefined) return null
  if (TOKEN.test(token)) return token
  throw usageError('the token of agents must have at least 16 visible ASCII characters')
}
