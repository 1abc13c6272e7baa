import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerOptions } from '../../program/building.js'
import type { Cluster } from '../cluster/cluster.js'
import { type AdminPlace, type GatewayPod, gatewayPods, memberOf } from '../cluster/pods.js'
import { compareFleet, linesOf } from '../fleet/fleet-change.js'
import type { KubernetesObject, ObjectIdentity } from '../objects/object.js'

/** What is waited for. */
export interface Awaited {
  readonly cluster: Cluster
  readonly identity: ObjectIdentity
  readonly deployment: KubernetesObject
  /** What every pod has to serve. */
  readonly text: string
  readonly place: AdminPlace
  readonly server: ServerOptions
  /** Names of pods that are to go: whether they are stuck does not matter. */
  readonly doomed: ReadonlySet<string>
  readonly untilMono: number
  /** Hears how far it has got. */
  readonly onProgress: (line: string) => void
}

/** How the wait ended: `digest` of what all pods serve, or why they do not. */
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
  }
}

const LOOK_MS = 500

/** Waits until the Deployment has the pods that it is to have, all of them new, and each says that it serves the document. */
export async function awaitPods(awaited: Awaited): Promise<RolloutEnd> {
  let reasons: readonly string[] = ['the rollout did not begin']
  let said = ''
  while (performance.now() < awaited.untilMono) {
    const state = (await awaited.cluster.read(awaited.deployment)) as DeploymentState | null
    const progress = progressOf(state)
    if (progress.isSeen && progress.text !== said) awaited.onProgress(progress.text)
    said = progress.text
    const pods = (await gatewayPods(awaited.cluster, awaited.identity)).filter(({ isEnding }) => !isEnding)
    const stuck = pods.filter(({ name, problem }) => problem !== null && !awaited.doomed.has(name))
    if (stuck.length > 0)
      return { ok: false, reasons: stuck.map(({ name, problem }) => `pod ${name}: ${problem}`) }
    if (progress.isDone) {
      const checked = await askPods(awaited, pods)
      if (checked.ok) return checked
      reasons = checked.reasons
    } else reasons = [progress.text]
    await sleep(LOOK_MS)
  }
  return { ok: false, reasons: [...reasons, 'the time for the rollout is over (--timeout)'] }
}

/** Has every pod say whether it serves the document. */
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
  /** The Deployment's controller knows of the last change. */
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
