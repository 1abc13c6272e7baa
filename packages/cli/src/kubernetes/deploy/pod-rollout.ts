import { setTimeout as sleep } from 'node:timers/promises'
import { visibleText } from '@sluice/core'
import type { ServerOptions } from '../../input/options.js'
import { EXIT, Failure } from '../../output/failure.js'
import type { Cluster } from '../cluster/cluster.js'
import { type AdminEndpoint, type GatewayPod, gatewayPods, memberOf } from '../cluster/pods.js'
import { compareFleet, linesOf } from '../fleet/fleet-change.js'
import type { KubernetesObject, ObjectIdentity } from '../objects/object.js'

/** Options for `awaitPods`. */
export interface AwaitPodsOptions {
  readonly cluster: Cluster
  readonly identity: ObjectIdentity
  readonly deployment: KubernetesObject
  /** Document that every pod must serve. */
  readonly text: string
  readonly endpoint: AdminEndpoint
  readonly server: ServerOptions
  /** Names of pods that are being replaced. Their problems are ignored. */
  readonly replacedPods: ReadonlySet<string>
  readonly untilMono: number
  /** Called with progress messages. */
  readonly onProgress: (line: string) => void
}

/** Outcome of the wait: the digest that all pods serve, or the errors. */
export type RolloutOutcome =
  | { readonly ok: true; readonly digest: string | null; readonly pods: readonly GatewayPod[] }
  | { readonly ok: false; readonly reasons: readonly string[] }

interface DeploymentState {
  readonly spec?: { readonly replicas?: number }
  readonly metadata: { readonly generation?: number }
  readonly status?: {
    readonly observedGeneration?: number
    readonly replicas?: number
    readonly updatedReplicas?: number
    readonly availableReplicas?: number
    readonly conditions?: readonly {
      readonly type: string
      readonly status: string
      readonly message?: string
    }[]
  }
}

const POLL_MS = 500

/** Waits until the Deployment has all of its pods, all are up to date, and each one serves the document. */
export async function awaitPods(options: AwaitPodsOptions): Promise<RolloutOutcome> {
  let last: PodCheck = { isFinal: false, outcome: { ok: false, reasons: ['the rollout did not start'] } }
  const say = withoutRepeats(options.onProgress)
  while (performance.now() < options.untilMono) {
    last = await checkPods(options, say).catch(tolerateOutage)
    if (last.outcome.ok || last.isFinal) return last.outcome
    await sleep(POLL_MS)
  }
  const reasons = last.outcome.ok ? [] : last.outcome.reasons
  return { ok: false, reasons: [...reasons, 'the rollout timed out (--timeout)'] }
}

interface PodCheck {
  /** True if waiting longer is pointless. */
  readonly isFinal: boolean
  readonly outcome: RolloutOutcome
}

async function checkPods(options: AwaitPodsOptions, say: (line: string) => void): Promise<PodCheck> {
  const state = (await options.cluster.read(options.deployment)) as DeploymentState | null
  const { isSeen, isDone, text } = progressOf(state)
  if (isSeen) say(text)
  const pods = (await gatewayPods(options.cluster, options.identity)).filter(({ isEnding }) => !isEnding)
  const stuck = pods.filter(({ name, problem }) => problem !== null && !options.replacedPods.has(name))
  if (stuck.length > 0)
    return { isFinal: true, outcome: failed(stuck.map(({ name, problem }) => `pod ${name}: ${problem}`)) }
  if (isDone) return { isFinal: false, outcome: await verifyPods(options, pods) }
  const { conditions = [] } = state?.status ?? {}
  const refused = conditions.filter(({ type, status }) => type === 'ReplicaFailure' && status === 'True')
  const waiting = pods.filter(({ unscheduled }) => unscheduled !== null)
  const why = [
    ...refused.map(({ message = '' }) => visibleText(message)),
    ...waiting.map(({ name, unscheduled }) => visibleText(`pod ${name}: ${unscheduled}`)),
  ]
  return { isFinal: false, outcome: failed([text, ...why]) }
}

/** Treats a temporary outage of the API server as "not ready yet", so that it causes no rollback. */
function tolerateOutage(error: unknown): PodCheck {
  if (error instanceof Failure && error.exit === EXIT.unreachable)
    return { isFinal: false, outcome: failed([error.message]) }
  throw error
}

function failed(reasons: readonly string[]): RolloutOutcome {
  return { ok: false, reasons }
}

/** Suppresses repeated messages. */
function withoutRepeats(say: (line: string) => void): (line: string) => void {
  let said = ''
  return (line) => {
    if (line !== said) say(visibleText(line))
    said = line
  }
}

/** Checks that every pod serves the document. */
async function verifyPods(options: AwaitPodsOptions, pods: readonly GatewayPod[]): Promise<RolloutOutcome> {
  const { cluster, endpoint, server, text } = options
  const members = pods.map((pod) => memberOf(cluster, pod, endpoint, server))
  const answers = await compareFleet(members, text)
  const others = answers.filter(({ result }) => result !== 'unchanged')
  if (others.length === 0) return { ok: true, digest: answers[0]?.digest ?? null, pods }
  const reasons = others.flatMap((answer) =>
    answer.result === 'valid' ? [`pod ${answer.member.name} serves another document`] : linesOf(answer),
  )
  return { ok: false, reasons }
}

interface Progress {
  /** True if the Deployment controller has processed the last change. */
  readonly isSeen: boolean
  readonly isDone: boolean
  readonly text: string
}

function progressOf(state: DeploymentState | null): Progress {
  const wanted = state?.spec?.replicas ?? 1
  const {
    observedGeneration = 0,
    replicas = 0,
    updatedReplicas = 0,
    availableReplicas = 0,
  } = state?.status ?? {}
  const isSeen = observedGeneration >= (state?.metadata.generation ?? Number.POSITIVE_INFINITY)
  const isDone = isSeen && updatedReplicas === wanted && replicas === wanted && availableReplicas === wanted
  return {
    isSeen,
    isDone,
    text: `${updatedReplicas} of ${wanted} pods updated, ${availableReplicas} ready, ${replicas} in total`,
  }
}
