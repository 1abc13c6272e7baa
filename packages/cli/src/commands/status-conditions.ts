import type { AdminClient } from '../admin/admin-client.js'
import type { AnswerPart } from '../admin/answer-part.js'
import { canaryText, stateText } from './upstream.js'

/** Conditions of a gateway that need attention over time: certificates, canaries and targets out of service. */
export interface Conditions {
  readonly certificates: readonly CertificateFact[]
  readonly canaries: readonly { readonly upstream: string; readonly state: string }[]
  readonly targetsOut: readonly {
    readonly upstream: string
    readonly target: string
    readonly reason: string
  }[]
}

interface CertificateFact {
  readonly file: string
  /** Days until the certificate expires; negative afterwards. Null if the file cannot be used. */
  readonly daysLeft: number | null
}

const DAY_SECONDS = 86_400

/** Gets the conditions of a gateway. Before its first document there are none. */
export async function conditionsOf(client: AdminClient): Promise<Conditions> {
  const { part: metrics } = await client.get('/v1/metrics')
  const answer = await client.send({ method: 'GET', path: '/v1/upstreams' })
  const upstreams = answer.status === 200 ? client.parsed(answer).parts('upstreams') : []
  return {
    certificates: metrics.parts('certificates').map(certificateFact),
    canaries: upstreams.flatMap((upstream) => {
      const canary = upstream.partOrNull('canary')
      return canary === null ? [] : [{ upstream: upstream.text('name'), state: canaryText(canary) }]
    }),
    targetsOut: upstreams.flatMap(targetsOut),
  }
}

/** Formats conditions, one per line. */
export function conditionLines({ certificates, canaries, targetsOut }: Conditions): string[] {
  return [
    ...certificates.map(({ file, daysLeft }) => `certificate ${file}: ${daysText(daysLeft)}`),
    ...canaries.map(({ upstream, state }) => `canary of ${upstream}: ${state}`),
    ...targetsOut.map(({ upstream, target, reason }) => `target ${target} of ${upstream} is out: ${reason}`),
  ]
}

/** Formats the days that a certificate is valid. */
export function daysText(daysLeft: number | null): string {
  if (daysLeft === null) return 'cannot be used'
  if (daysLeft < 0) return 'expired'
  return `${daysLeft} ${daysLeft === 1 ? 'day' : 'days'} left`
}

function certificateFact(certificate: AnswerPart): CertificateFact {
  const seconds = certificate.numberOrNull('expiresSeconds')
  const daysLeft = seconds === null ? null : Math.floor(seconds / DAY_SECONDS)
  return { file: certificate.text('file'), daysLeft }
}

/** Returns the targets that receive no requests in at least one worker, with the reason. */
function targetsOut(upstream: AnswerPart): Conditions['targetsOut'] {
  return upstream.parts('targets').flatMap((target) => {
    const state = target.part('state')
    const seen = Object.keys(state.part('workers').value)
    const isOut = state.flag('drained') || seen.some((name) => name !== 'available')
    if (!isOut) return []
    const problem = state.textOrNull('problem')
    const reason = `${state.flag('drained') ? 'drained' : stateText(state)}${problem === null ? '' : ` (${problem})`}`
    return [{ upstream: upstream.text('name'), target: target.text('url'), reason }]
  })
}
