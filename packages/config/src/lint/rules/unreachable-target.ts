import { connect } from 'node:net'
import { isIssue } from '../../diagnostic/issue.js'
import { parseTarget } from '../../grammar/target.js'
import type { LintRule, RuleFinding } from './rule.js'
import { targetsOf } from './targets.js'

const MOST_AT_ONCE = 20
const CONNECT_MS = 2000

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its name does not exist',
  EAI_AGAIN: 'its name cannot be resolved now',
  ECONNREFUSED: 'the connection is refused',
}

/** Connects to every target, if the network may be used. */
export const unreachableTarget: LintRule = {
  id: 'unreachable-target',
  severity: 'warning',
  title: 'A target cannot be reached (only with `--online`).',
  why: 'The rule resolves the name of each target and opens a TCP connection, for at most 2 seconds. It skips targets behind an HTTP proxy and those that SRV records or Kubernetes provide. Run it in the network of the gateway.',
  bad: `upstreams: { orders: { targets: ['http://127.0.0.1:1'] } }
routes: [{ id: orders, match: { path: /orders/* }, upstream: orders }]
`,
  good: `upstreams: { orders: { targets: ['http://127.0.0.1:9000'] } }
routes: [{ id: orders, match: { path: /orders/* }, upstream: orders }]
`,
  async checkOnline(subject) {
    const waiting = targetsOf(subject).filter(
      ({ upstream, isDiscovered }) => upstream.proxy === undefined && !isDiscovered,
    )
    const findings: RuleFinding[] = []
    const next = waiting[Symbol.iterator]()
    const work = async (): Promise<void> => {
      for (const { url, path } of next) {
        const reason = await problemWith(url)
        if (reason === null) continue
        const remedy = 'start the target, correct the address, or check the network'
        findings.push({ path, message: `the target cannot be reached: ${reason}`, remedy })
      }
    }
    await Promise.all(Array.from({ length: MOST_AT_ONCE }, work))
    return findings
  },
}

async function problemWith(url: string): Promise<string | null> {
  const target = parseTarget(url)
  if (isIssue(target)) return null
  const { hostname, port, protocol } = new URL(target.origin)
  const host = hostname.replace(/^\[|\]$/g, '')
  const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) })
  return new Promise<string | null>((resolve) => {
    const timer = setTimeout(() => resolve(`no connection within ${CONNECT_MS / 1000} s`), CONNECT_MS)
    socket.once('connect', () => resolve(null))
    socket.once('error', (error: NodeJS.ErrnoException) =>
      resolve(REASONS[error.code ?? ''] ?? error.message),
    )
    socket.once('close', () => clearTimeout(timer))
  }).finally(() => socket.destroy())
}
