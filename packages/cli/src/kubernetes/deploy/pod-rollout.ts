import { setTimeout as sleep } from 'node:timers/promises'
import { visibleText } from '@sluice/core'
import { EXIT, Failure } from '../../failure.js'
import type { ServerOptions } from '../../program/building.js'
import type { Cluster } from '../cluster/cluster.js'
import { type AdminPlace, type GatewayPod, gatewayPods, memberOf } from '../cluster/pods.js'
import { compareFleet, linesOf } from '../fleet/fleet-change.js'
import type { KubernetesObject, ObjectIdentity } from '../objects/object.js'

/** Options for `awaitPods`. */
export interface Awaited {
  readonly cluster: Cluster
  readonly identity: ObjectIdentity
  readonly deployment: KubernetesObject
  /** Document that every pod must serve. */
  readonly text: string
  readonly place: AdminPlace
  readonly server: ServerOptions
  /** Names of pods that are being replaced. Their problems are ignored. */
  readonly doomed: ReadonlySet<string>
  readonly untilMono: number
  /** Called with progress messages. */
  readonly onProgress: (line: string) => void
}

/** Outcome of the wait: the digest that all pods serve, or the errors. */
export type RolloutEnd =
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

const LOOK_MS = 500

/** Waits until the Deployment has all of its pods, all are up to date, and each one serves the document. */
export async function awaitPods(awaited: Awaited): Promise<RolloutEnd> {
  let last: Look = { isFinal: false, end: { ok: false, reasons: ['the rollout did not start'] } }
  const say = sayOnce(awaited.onProgress)
  while (performance.now() < awaited.untilMono) {
    last = await look(awaited, say).catch(unanswered)
    if (last.end.ok || last.isFinal) return last.end
    await sleep(LOOK_MS)
  }
  const reasons = last.end.ok ? [] : last.end.reasons
  return { ok: false, reasons: [...reasons, 'the rollout timed out (--timeout)'] }
}

interface Look {
  /** True if waiting longer is pointless. */
  readonly isFinal: boolean
  readonly end: RolloutEnd
}

async function look(awaited: Awaited, say: (line: string) => void): Promise<Look> {
  const state = (await awaited.cluster.read(awaited.deployment)) as DeploymentState | null
  const { isSeen, isDone, text } = progressOf(state)
  if (isSeen) say(text)
  const pods = (await gatewayPods(awaited.cluster, awaited.identity)).filter(({ isEnding }) => !isEnding)
  const stuck = pods.filter(({ name, problem }) => problem !== null && !awaited.doomed.has(name))
  if (stuck.length > 0)
    return { isFinal: true, end: failed(stuck.map(({ name, problem }) => `pod ${name}: ${problem}`)) }
  if (isDone) return { isFinal: false, end: await askPods(awaited, pods) }
  const { conditions = [] } = state?.status ?? {}
  const refused = conditions.filter(({ type, status }) => type === 'ReplicaFailure' && status === 'True')
  const waiting = pods.filter(({ unscheduled }) => unscheduled !== null)
  const why = [
    ...refused.map(({ message = '' }) => visibleText(message)),
    ...waiting.map(({ name, unscheduled }) => visibleText(`pod ${name}: ${unscheduled}`)),
  ]
  return { isFinal: false, end: failed([text, ...why]) }
}

/** Treats a temporary outage of the API server as "not ready yet", so that it causes no rollback. */
function unanswered(error: unknown): Look {
  if (error instanceof Failure && error.exit === EXIT.unreachable)
    return { isFinal: false, end: failed([error.message]) }
  throw error
}

function failed(reasons: readonly string[]): RolloutEnd {
  return { ok: false, reasons }
}

/** Suppresses repeated messages. */
function sayOnce(say: (line: string) => void): (line: string) => void {
  let said = ''
  return (line) => {
    if (line !== said) say(visibleText(line))
    said = line
  }
}

/** Checks that every pod serves the document. */
async function askPods(awaited: Awaited, pods: readonly GatewayPod[]): Promise<RolloutEnd> {
  const { cluster, place, server, text } = awaited
  const members = pods.map((pod) => memberOf(cluster, pod, place, server))
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
    text: `${updatedReplicas} of ${wanted} pods new, ${availableReplicas} ready, ${replicas} in all`,
  }
}
