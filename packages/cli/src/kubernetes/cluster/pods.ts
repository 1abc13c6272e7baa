import { AdminClient } from '../../admin/admin-client.js'
import type { ServerOptions } from '../../input/options.js'
import type { FleetMember } from '../fleet/fleet-change.js'
import { addressAt } from '../objects/document-facts.js'
import { type KubernetesObject, metadataOf, type ObjectIdentity, selectorLabels } from '../objects/object.js'
import { partAt, readRaw } from '../objects/raw-document.js'
import { DOCUMENT_KEY } from '../objects/workload.js'
import type { Cluster, LiveObject } from './cluster.js'
import { forwardTo } from './pod-forward.js'

/** A pod of a gateway. */
export interface GatewayPod {
  readonly name: string
  readonly namespace: string
  readonly node: string
  readonly isRunning: boolean
  readonly isReady: boolean
  readonly isEnding: boolean
  readonly restarts: number
  /** Reason that the container cannot run, or null. */
  readonly problem: string | null
  /** Scheduler message if the pod has no node, otherwise null. */
  readonly unscheduled: string | null
}

interface PodStatus {
  readonly phase?: string
  readonly conditions?: readonly {
    readonly type: string
    readonly status: string
    readonly message?: string
  }[]
  readonly containerStatuses?: readonly {
    readonly restartCount?: number
    readonly state?: { readonly waiting?: { readonly reason?: string } }
    readonly lastState?: { readonly terminated?: { readonly exitCode?: number } }
  }[]
}

/** Waiting reasons of containers that need a fix by the user. */
const STUCK = new Set([
  'CrashLoopBackOff',
  'CreateContainerConfigError',
  'CreateContainerError',
  'ErrImageNeverPull',
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'RunContainerError',
])

/**
 * Returns the pods that the gateway's Deployment controls, sorted by name. Labels alone do not suffice: a foreign pod
 * with the same labels must not receive the token of the admin API.
 */
export async function gatewayPods(cluster: Cluster, identity: ObjectIdentity): Promise<GatewayPod[]> {
  const { namespace } = identity
  const labels = selectorLabels(identity)
  // Pods come first, so that the ReplicaSet of each of them is in the later list.
  const pods = await cluster.list({ apiVersion: 'v1', kind: 'Pod' }, namespace, labels)
  const [sets, deployment] = await Promise.all([
    cluster.list({ apiVersion: 'apps/v1', kind: 'ReplicaSet' }, namespace, labels),
    cluster.read({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: metadataOf(identity) }),
  ])
  const ours = new Set(
    sets.filter((set) => controllerOf(set) === deployment?.metadata.uid).map(({ metadata }) => metadata.uid),
  )
  return pods
    .filter((pod) => ours.has(controllerOf(pod) ?? ''))
    .map(podOf)
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Returns the uid of the controlling owner, or null without one. */
function controllerOf({ metadata: { ownerReferences = [] } }: LiveObject): string | null {
  return ownerReferences.find(({ controller }) => controller === true)?.uid ?? null
}

function podOf({ metadata, spec = {}, status = {} }: LiveObject): GatewayPod {
  const { phase, conditions = [], containerStatuses = [] } = status as PodStatus
  const [container] = containerStatuses
  const waiting = container?.state?.waiting
  const isStuck = waiting?.reason !== undefined && STUCK.has(waiting.reason)
  const exitCode = container?.lastState?.terminated?.exitCode
  const how = `kubectl logs --namespace ${metadata.namespace} --previous ${metadata.name}`
  const ended = exitCode === undefined ? '' : `, exit ${exitCode}; see ${how}`
  return {
    name: metadata.name,
    namespace: metadata.namespace,
    node: String(spec['nodeName'] ?? ''),
    isRunning: phase === 'Running',
    isReady: conditions.some(({ type, status: value }) => type === 'Ready' && value === 'True'),
    isEnding: metadata.deletionTimestamp !== undefined,
    restarts: container?.restartCount ?? 0,
    problem: isStuck ? `${waiting!.reason}${ended}` : null,
    unscheduled:
      conditions.find(({ type, status: value }) => type === 'PodScheduled' && value === 'False')?.message ??
      null,
  }
}

/** Port and scheme of the admin API in the pods. */
export interface AdminEndpoint {
  readonly port: number
  readonly isTls: boolean
}

/** Returns the port and scheme of the admin API from the document in a ConfigMap. */
export function adminEndpoint(configMap: KubernetesObject): AdminEndpoint {
  const text = (configMap['data'] as Readonly<Record<string, string>> | undefined)?.[DOCUMENT_KEY] ?? ''
  const admin = partAt(readRaw(text), 'admin')
  const { port } = addressAt(admin, 'admin', '127.0.0.1:9901')
  return { port, isTls: admin['tls'] !== undefined }
}

/** Returns a pod as a fleet member. Its admin API is reached through the API server. */
export function memberOf(
  cluster: Cluster,
  pod: GatewayPod,
  endpoint: AdminEndpoint,
  options: ServerOptions,
): FleetMember {
  const server = `${endpoint.isTls ? 'https' : 'http'}://localhost:${endpoint.port}`
  const route = { name: `pod ${pod.name}`, connect: () => forwardTo(cluster, pod, endpoint.port) }
  const { tokenFile } = options
  const client = new AdminClient({ server, ...(tokenFile === undefined ? {} : { tokenFile }) }, route)
  return { name: pod.name, client }
}
