import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerOptions } from '../../input/options.js'
import { EXIT, Failure, messageOf } from '../../output/failure.js'
import { countText, shortDigest } from '../../output/text.js'
import { type Cluster, type LiveObject, nameOf } from '../cluster/cluster.js'
import { type AdminEndpoint, adminEndpoint, type GatewayPod, gatewayPods, memberOf } from '../cluster/pods.js'
import { applyToAll, changeFleet } from '../fleet/fleet-change.js'
import { type GatewayObjects, gatewayObjects } from '../objects/gateway-objects.js'
import type { KubernetesObject, ObjectIdentity } from '../objects/object.js'
import { ObjectsError } from '../objects/raw-document.js'
import { replacedForOf } from '../objects/workload.js'
import { DeployLock } from './deploy-lock.js'
import {
  hasOtherScaler,
  type ObjectChange,
  objectChanges,
  type Removal,
  removals,
  replicasOf,
  withoutReplicas,
} from './object-changes.js'
import { type AwaitPodsOptions, awaitPods, type RolloutOutcome } from './pod-rollout.js'
import {
  checkNextRevision,
  nextNumber,
  type PodSettings,
  type Revision,
  readRevisions,
  saveRevision,
  type Way,
} from './revisions.js'

/** Parameters of a deployment. */
export interface DeployRequest {
  /** Validated document. */
  readonly text: string
  readonly identity: ObjectIdentity
  readonly settings: PodSettings
  /** True if the command line sets the number of pods. Then it also applies to an existing Deployment. */
  readonly setsReplicas: boolean
  readonly note: string
  /** Number of the revision that is deployed again; absent unless it is a rollback. */
  readonly rollbackTo?: number
  /** True to delete objects of earlier deployments that are no longer needed. */
  readonly prunes: boolean
  readonly isForced: boolean
  readonly timeoutMs: number
  /** Connection options for the admin API. */
  readonly server: ServerOptions
}

/** Planned actions of a deployment. */
export interface DeployPlan {
  readonly way: Way
  readonly changes: readonly ObjectChange[]
  /** Objects of earlier deployments that are no longer needed. They are deleted if `prunes` is set. */
  readonly unneeded: readonly Removal[]
  readonly notes: readonly string[]
  /** Pods that would be replaced or would reload the document. */
  readonly pods: readonly GatewayPod[]
  readonly revisions: readonly Revision[]
  /** Settings of the generated objects. */
  readonly settings: PodSettings
}

/** Outcome of a deployment. */
export interface DeployOutcome {
  /** `uncertain`: rolled back, but not all pods confirm the previous configuration. */
  readonly result: 'applied' | 'unchanged' | 'rolled-back' | 'uncertain' | 'unreachable'
  readonly digest: string | null
  /** Number of pods that serve the document; absent unless it was applied. */
  readonly servingPods?: number
  readonly reasons: readonly string[]
}

/** Maximum outage of the API server that a running deployment tolerates. */
const API_OUTAGE_MS = 60_000
const POLL_MS = 500

/** Deployment of one gateway to a cluster. */
export class GatewayDeploy {
  readonly #cluster: Cluster
  readonly #request: DeployRequest
  readonly #say: (line: string) => void

  constructor(cluster: Cluster, request: DeployRequest, say: (line: string) => void) {
    this.#cluster = cluster
    this.#request = request
    this.#say = say
  }

  /** Runs the work while holding the deployment lock. @throws Failure if another deployment is running */
  async withLock<T>(work: () => Promise<T>): Promise<T> {
    const { identity, timeoutMs, isForced } = this.#request
    const lock = await DeployLock.take(this.#cluster, identity, { timeoutMs, isForced, say: this.#say })
    try {
      return await work()
    } finally {
      // The Lease expires by itself, and the error must not replace the result of the deployment.
      await lock
        .release()
        .catch((error: unknown) => this.#say(`cannot release the deployment lock: ${messageOf(error)}`))
    }
  }

  /** Plans the deployment without changing anything. */
  async plan(): Promise<DeployPlan> {
    const { text, identity, settings } = this.#request
    const revisions = await readRevisions(this.#cluster, identity)
    await checkNextRevision(this.#cluster, identity, revisions)
    const fresh = objectsOf({ text, settings }, identity)
    const live = await this.#cluster.read(deploymentIn(fresh.objects))
    const pods = live === null ? [] : await this.#pods()
    const kept = live === null ? undefined : replacedForOf(live)
    // With the annotation of the running pods, the pod template differs only by changes that need new pods.
    const running = kept === undefined ? settings : { ...settings, replacedFor: kept }
    const trial = await this.#changes(objectsOf({ text, settings: running }, identity))
    const hasStuck = pods.some(({ problem }) => problem !== null)
    const isReloading = live !== null && changesDocument(trial.changes) && !changesTemplate(trial.changes)
    const isRolling = live === null || changesTemplate(trial.changes) || (isReloading && hasStuck)
    const { objects, changes, notes } = isRolling ? await this.#changes(fresh) : trial
    const way = isRolling ? 'rolling' : isReloading ? 'reload' : 'objects'
    const before = revisions.flatMap((revision) => formerObjects(revision, identity))
    const unneeded = await removals(this.#cluster, unneededObjects(before, objects))
    return { way, changes, unneeded, notes, pods, revisions, settings: isRolling ? settings : running }
  }

  async #changes({ objects, notes }: GatewayObjects) {
    return { objects, notes, changes: await objectChanges(this.#cluster, objects, this.#request) }
  }

  /** Executes a plan. Rolls back on any error. */
  async execute(plan: DeployPlan): Promise<DeployOutcome> {
    const wanted = plan.changes.filter(({ kind }) => kind !== 'none')
    const pruned = this.#request.prunes ? plan.unneeded : []
    if (wanted.length === 0 && pruned.length === 0) return this.#confirm(plan)
    this.#cluster.retryFor(API_OUTAGE_MS)
    const outcome = plan.way === 'reload' ? await this.#reload(plan) : await this.#roll(plan)
    if (outcome.result !== 'applied') return outcome
    for (const { live } of pruned) await this.#cluster.remove(live)
    await this.#saveRevision(plan, outcome)
    return outcome
  }

  /** Applies the document to pods that serve another one, although the objects have not changed. */
  async #confirm(plan: DeployPlan): Promise<DeployOutcome> {
    const answers = await this.#applyTo(plan.pods, this.#endpointOf(plan, 'next'), this.#request)
    const outcome = await awaitPods(this.#waitOptions(plan))
    if (!outcome.ok) throw new Failure(`no changes, but ${outcome.reasons.join('\n')}`)
    const isSame = answers.every(({ result }) => result !== 'applied')
    return outcomeOf(isSame ? 'unchanged' : 'applied', outcome)
  }

  /** Reloads the document in all running pods, in two phases. The ConfigMap is updated before activation. */
  async #reload(plan: DeployPlan): Promise<DeployOutcome> {
    const { text, note } = this.#request
    const endpoint = this.#endpointOf(plan, 'live')
    const members = this.#members(plan.pods, endpoint)
    this.#say(`preparing the document in ${countText(members.length, 'pod')}`)
    const whenPrepared = () => this.#apply(plan.changes)
    const outcome = await changeFleet(members, { text, note, whenPrepared })
    if (outcome.result === 'stopped') return await this.#rollBack(plan, outcome.reasons)
    if (outcome.result !== 'done') {
      const result = outcome.result === 'unreachable' ? 'unreachable' : 'rolled-back'
      return { result, digest: null, reasons: outcome.reasons }
    }
    return await this.#withRollback(plan, () => this.#updateMissedPods(plan), outcome.reasons)
  }

  /** Applies the document to pods that started during the reload or could not be reached. */
  async #updateMissedPods(plan: DeployPlan): Promise<RolloutOutcome> {
    const options = this.#waitOptions(plan)
    while (performance.now() < options.untilMono) {
      const answers = await this.#applyTo(await this.#pods(), options.endpoint, this.#request)
      if (answers.every(({ result }) => result !== null)) break
      await sleep(POLL_MS)
    }
    return await awaitPods(options)
  }

  /** Applies the objects and waits until the Deployment has created or replaced its pods. */
  #roll(plan: DeployPlan): Promise<DeployOutcome> {
    return this.#withRollback(plan, async () => {
      await this.#apply(plan.changes)
      return await awaitPods(this.#waitOptions(plan))
    })
  }

  /** Runs the work and rolls back if it fails. @param before errors that have already occurred */
  async #withRollback(
    plan: DeployPlan,
    work: () => Promise<RolloutOutcome>,
    before: readonly string[] = [],
  ): Promise<DeployOutcome> {
    let reasons: readonly string[]
    try {
      const outcome = await work()
      if (outcome.ok) return outcomeOf('applied', outcome)
      reasons = outcome.reasons
    } catch (error) {
      reasons = [messageOf(error)]
    }
    return await this.#rollBack(plan, [...before, ...reasons])
  }

  async #apply(changes: readonly ObjectChange[]): Promise<void> {
    const { isForced } = this.#request
    for (const { kind, object, live } of changes) {
      if (kind === 'none') continue
      await this.#applyOver(live, object, isForced)
    }
  }

  /**
   * Applies an object. The number of pods is applied separately, so that autoscalers and `kubectl scale` can change it
   * without a conflict. Without any owner of that field, Kubernetes would reset it to one.
   */
  async #applyOver(live: LiveObject | null, object: KubernetesObject, isForced: boolean): Promise<void> {
    const named = replicasOf(object)
    const isSet = named !== undefined || (live !== null && !hasOtherScaler(live))
    if (live !== null && object.kind === 'Deployment' && isSet)
      await this.#setReplicas(object, named ?? replicasOf(live))
    const applied = live === null ? object : withoutReplicas(object)
    await this.#cluster.apply(applied, { isTrial: false, isForced })
  }

  async #setReplicas({ apiVersion, kind, metadata }: KubernetesObject, replicas: unknown): Promise<void> {
    const partial = { apiVersion, kind, metadata: { ...metadata, labels: {} }, spec: { replicas } }
    await this.#cluster.apply(partial, { isTrial: false, isForced: true, manager: 'sluice-replicas' })
  }

  async #rollBack(plan: DeployPlan, reasons: readonly string[]): Promise<DeployOutcome> {
    this.#say('rolling back')
    try {
      const outcome = await this.#restore(plan)
      if (outcome.ok) return { result: 'rolled-back', digest: null, reasons }
      return { result: 'uncertain', digest: null, reasons: [...reasons, ...outcome.reasons] }
    } catch (error) {
      return { result: 'uncertain', digest: null, reasons: [...reasons, messageOf(error)] }
    }
  }

  /** Restores the previous objects and deletes new ones. */
  async #restore(plan: DeployPlan): Promise<RolloutOutcome> {
    const replacedPods = new Set((await this.#pods()).map(({ name }) => name))
    const last = plan.revisions[0]
    const objects = last === undefined ? [] : objectsOf(last, this.#request.identity).objects
    const before = new Map(objects.map((object) => [keyOf(object), object]))
    for (const { kind, object, live } of [...plan.changes].reverse()) {
      const old = before.get(keyOf(object))
      if (kind === 'add')
        for (const { live } of await removals(this.#cluster, [object])) await this.#cluster.remove(live)
      else if (kind === 'change' && old !== undefined)
        await this.#applyOver(live, withReplicasBefore(old, { live, object }), true)
    }
    if (last === undefined) return { ok: true, digest: null, pods: [] }
    const { text } = last
    const endpoint = adminEndpoint(objects.find(isConfigMap)!)
    // Pods may already have loaded the new document from the ConfigMap.
    await this.#applyTo(await this.#pods(), endpoint, { text, note: 'rolled back' })
    return await awaitPods({ ...this.#waitOptions(plan), text, endpoint, replacedPods })
  }

  async #saveRevision(
    { revisions: before, way, settings }: DeployPlan,
    { digest }: DeployOutcome,
  ): Promise<void> {
    const { text, note, identity, rollbackTo } = this.#request
    const revision = {
      number: nextNumber(before),
      at: new Date().toISOString(),
      note,
      digest,
      way,
      text,
      settings,
      ...(rollbackTo === undefined ? {} : { rollbackTo }),
    }
    await saveRevision(this.#cluster, identity, { revision, before })
  }

  #waitOptions(plan: DeployPlan): AwaitPodsOptions {
    const { text, identity, server, timeoutMs } = this.#request
    return {
      cluster: this.#cluster,
      identity,
      deployment: deploymentIn(plan.changes.map(({ object }) => object)),
      text,
      endpoint: this.#endpointOf(plan, 'next'),
      server,
      replacedPods: new Set(plan.way === 'rolling' ? plan.pods.map(({ name }) => name) : []),
      untilMono: performance.now() + timeoutMs,
      onProgress: this.#say,
    }
  }

  /** Returns the admin API port of the pods before or after the change. */
  #endpointOf({ changes }: DeployPlan, when: 'live' | 'next'): AdminEndpoint {
    const { live, object } = changes.find((change) => isConfigMap(change.object))!
    return adminEndpoint(when === 'live' && live !== null ? live : object)
  }

  #applyTo(
    pods: readonly GatewayPod[],
    endpoint: AdminEndpoint,
    change: Pick<DeployRequest, 'text' | 'note'>,
  ) {
    return applyToAll(this.#members(pods, endpoint), change)
  }

  #members(pods: readonly GatewayPod[], endpoint: AdminEndpoint) {
    const ready = pods.filter(({ isRunning, isReady }) => isRunning && isReady)
    return ready.map((pod) => memberOf(this.#cluster, pod, endpoint, this.#request.server))
  }

  async #pods(): Promise<GatewayPod[]> {
    return (await gatewayPods(this.#cluster, this.#request.identity)).filter(({ isEnding }) => !isEnding)
  }
}

/** Returns the objects for a document. @throws Failure if the document or the settings are incomplete */
export function objectsOf(
  { text, settings: { maxReplicas, ...settings } }: Pick<Revision, 'text' | 'settings'>,
  identity: ObjectIdentity,
): GatewayObjects {
  try {
    const autoscaling = maxReplicas === undefined ? {} : { autoscaling: { maxReplicas } }
    return gatewayObjects(text, { ...identity, ...settings, ...autoscaling })
  } catch (error) {
    if (error instanceof ObjectsError) throw new Failure(error.message, EXIT.invalid)
    throw error
  }
}

function outcomeOf(
  result: 'applied' | 'unchanged',
  outcome: RolloutOutcome & { readonly ok: true },
): DeployOutcome {
  return { result, digest: outcome.digest, servingPods: outcome.pods.length, reasons: [] }
}

/** Returns the object of the previous revision. It includes the number of pods only if the deployment changed it. */
function withReplicasBefore(
  old: KubernetesObject,
  { live, object }: Pick<ObjectChange, 'live' | 'object'>,
): KubernetesObject {
  if (live === null || replicasOf(object) === undefined) return withoutReplicas(old)
  return { ...old, spec: { ...(old['spec'] as object), replicas: replicasOf(live) } }
}

/** Returns the objects of a revision; empty if this version cannot generate objects from its document. */
function formerObjects(revision: Revision, identity: ObjectIdentity): readonly KubernetesObject[] {
  try {
    return objectsOf(revision, identity).objects
  } catch (error) {
    if (error instanceof Failure) return []
    throw error
  }
}

function isConfigMap({ kind }: KubernetesObject): boolean {
  return kind === 'ConfigMap'
}

function deploymentIn(objects: readonly KubernetesObject[]): KubernetesObject {
  return objects.find(({ kind }) => kind === 'Deployment')!
}

function changesTemplate(changes: readonly ObjectChange[]): boolean {
  const paths = changes.find(({ object }) => object.kind === 'Deployment')?.paths ?? []
  return paths.some((path) => path.startsWith('spec.template'))
}

function changesDocument(changes: readonly ObjectChange[]): boolean {
  return changes.some(({ kind, object }) => kind === 'change' && isConfigMap(object))
}

function unneededObjects(
  before: readonly KubernetesObject[],
  now: readonly KubernetesObject[],
): KubernetesObject[] {
  const wanted = new Set(now.map(keyOf))
  const left = before.filter((object) => !wanted.has(keyOf(object)))
  return [...new Map(left.map((object) => [keyOf(object), object])).values()]
}

function keyOf(object: KubernetesObject): string {
  return `${nameOf(object)} ${object.metadata.namespace}`
}

/** Returns a one-line summary of a deployment. */
export function outcomeText({ result, digest, servingPods = 0 }: DeployOutcome): string {
  if (result === 'unchanged') return `unchanged: ${shortDigest(digest)} is active in all pods`
  return `applied: ${shortDigest(digest)} is active in ${countText(servingPods, 'pod')}`
}
