import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { visibleText } from '@sluice/core'
import {
  AccessError,
  type ApiAnswer,
  ApiClient,
  ApiUnreachable,
  type ClusterAccess,
  inClusterAccess,
  kubeconfigAccess,
  statusMessage,
} from '@sluice/gateway/kubernetes'
import { reasonOfCode } from '../../admin/connection-reason.js'
import { EXIT, Failure, usageError } from '../../output/failure.js'
import { say } from '../../output/output.js'
import type { KubernetesObject } from '../objects/object.js'
import { execCredentials } from './exec-credentials.js'
import { type LiveObject, liveObject, liveObjects } from './live-object.js'

export type { LiveObject } from './live-object.js'

/** Selects a cluster. The defaults are those of kubectl. */
export interface ClusterOptions {
  readonly kubeconfig?: string
  readonly context?: string
}

/** Options of a server-side apply. */
export interface ApplyOptions {
  /** True for a dry run. */
  readonly isTrial: boolean
  /** True to take over fields of other field managers. */
  readonly isForced: boolean
  /** Field manager; default `FIELD_MANAGER`. */
  readonly manager?: string
}

/** Resource names in the API, by kind. All of these kinds are namespaced. */
const RESOURCES: Readonly<Record<string, string>> = {
  ConfigMap: 'configmaps',
  Deployment: 'deployments',
  HorizontalPodAutoscaler: 'horizontalpodautoscalers',
  Lease: 'leases',
  NetworkPolicy: 'networkpolicies',
  Pod: 'pods',
  PodDisruptionBudget: 'poddisruptionbudgets',
  PrometheusRule: 'prometheusrules',
  ReplicaSet: 'replicasets',
  Role: 'roles',
  RoleBinding: 'rolebindings',
  Service: 'services',
  ServiceAccount: 'serviceaccounts',
  ServiceMonitor: 'servicemonitors',
}

const TIMEOUT_MS = 30_000
const RETRY_MS = 500
/** Field manager of the fields that gw sets. */
export const FIELD_MANAGER = 'sluice'

/** Client of a cluster's API server. Every method throws `Failure` for an error. */
export class Cluster {
  readonly client: ApiClient
  #patienceMs = 0

  constructor(access: ClusterAccess) {
    this.client = new ApiClient(access)
  }

  /** Default namespace. */
  get namespace(): string {
    return this.client.access.namespace
  }

  /**
   * Retries later requests for up to `ms` milliseconds if the API server does not respond, or responds with 429 or 5xx.
   * Used once a deployment has started. All requests of this class are idempotent.
   */
  retryFor(ms: number): void {
    this.#patienceMs = ms
  }

  /** Returns the object, or null if it does not exist. */
  async read(object: KubernetesObject): Promise<LiveObject | null> {
    const answer = await this.#send('GET', pathOf(object))
    if (answer.status === 404) return null
    return liveObject(requireSuccess(answer, `read ${nameOf(object)}`))
  }

  /** Runs a server-side apply and returns the resulting object. */
  async apply(
    object: KubernetesObject,
    { isTrial, isForced, manager = FIELD_MANAGER }: ApplyOptions,
  ): Promise<LiveObject> {
    const query = new URLSearchParams({ fieldManager: manager, fieldValidation: 'Strict' })
    if (isTrial) query.set('dryRun', 'All')
    if (isForced) query.set('force', 'true')
    const answer = await this.#send('PATCH', `${pathOf(object)}?${query}`, JSON.stringify(object))
    return liveObject(requireSuccess(answer, `apply ${nameOf(object)}`))
  }

  /** Deletes this object if it still exists. @throws Failure if it has been recreated with the same name */
  async remove(object: LiveObject): Promise<void> {
    const preconditions = { uid: object.metadata.uid }
    const options = {
      ...{ apiVersion: 'v1', kind: 'DeleteOptions' },
      ...{ propagationPolicy: 'Background', preconditions },
    }
    const answer = await this.#send('DELETE', pathOf(object), JSON.stringify(options))
    if (answer.status === 409)
      throw new Failure(`${nameOf(object)} was recreated by someone else and is kept`)
    if (answer.status !== 404) requireSuccess(answer, `delete ${nameOf(object)}`)
  }

  async list(
    type: Pick<KubernetesObject, 'apiVersion' | 'kind'>,
    namespace: string,
    labels: Readonly<Record<string, string>>,
  ): Promise<LiveObject[]> {
    const selector = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
    const path = listPath(type, namespace)
    const answer = await this.#send('GET', `${path}?labelSelector=${encodeURIComponent(selector.join())}`)
    return liveObjects(requireSuccess(answer, `list the ${RESOURCES[type.kind]} of ${namespace}`))
  }

  /** Closes the connections to the API server. */
  close(): void {
    this.client.close()
  }

  async #send(method: 'GET' | 'PATCH' | 'DELETE', path: string, body?: string): Promise<ApiAnswer> {
    const contentType = method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json'
    const sent = { method, path, timeoutMs: TIMEOUT_MS, contentType, ...(body === undefined ? {} : { body }) }
    const untilMono = performance.now() + this.#patienceMs
    for (;;) {
      const isLast = performance.now() >= untilMono
      try {
        const answer = await this.client.send(sent)
        if (isLast || !isTemporary(answer)) return answer
      } catch (error) {
        if (isLast || !(error instanceof ApiUnreachable))
          throw clusterFailure(error, this.client.access.server)
      }
      await sleep(RETRY_MS)
    }
  }
}

/** Opens the cluster of `--kubeconfig`, KUBECONFIG, ~/.kube/config or this pod, in this order. */
export async function openCluster({ kubeconfig, context }: ClusterOptions): Promise<Cluster> {
  const file = kubeconfig ?? standardKubeconfig()
  if (file === null && !process.env['KUBERNETES_SERVICE_HOST'])
    throw new Failure('no cluster is configured; add --kubeconfig <file>')
  try {
    const options = { context: context ?? null, runExec: execCredentials() }
    const access = file === null ? await inClusterAccess() : await kubeconfigAccess(file, options)
    if (access.isInsecure) say('the certificate of the API server is not verified (insecure-skip-tls-verify)')
    return new Cluster(access)
  } catch (error) {
    if (error instanceof AccessError) throw new Failure(visibleText(error.message))
    throw error
  }
}

function standardKubeconfig(): string | null {
  const named = process.env['KUBECONFIG'] ?? ''
  const files = named.split(delimiter).filter((file) => file !== '')
  if (files.length > 1) throw usageError('KUBECONFIG lists several files; choose one with --kubeconfig')
  const standard = join(homedir(), '.kube', 'config')
  return files[0] ?? (existsSync(standard) ? standard : null)
}

/** Returns kind and name, for example `Deployment/sluice`. */
export function nameOf({ kind, metadata }: KubernetesObject): string {
  return `${kind}/${metadata.name}`
}

/** Converts an error of a request to the API server to the failure of a command. */
export function clusterFailure(error: unknown, server: URL): unknown {
  if (error instanceof AccessError) return new Failure(visibleText(error.message), EXIT.unauthorised)
  if (!(error instanceof ApiUnreachable)) return error
  return new Failure(
    `cannot reach the API server at ${server.origin} (${reasonOfCode(error.message) ?? error.message})`,
    EXIT.unreachable,
  )
}

/** True if the API server is overloaded or temporarily unavailable. */
function isTemporary({ status }: ApiAnswer): boolean {
  return status === 429 || status >= 500
}

function requireSuccess(answer: ApiAnswer, what: string): object {
  const { status, body } = answer
  if (status >= 200 && status < 300 && typeof body === 'object' && body !== null) return body
  const reason = visibleText(statusMessage(answer))
  if (status === 401)
    throw new Failure(
      `the API server rejected the credentials of the kubeconfig: ${reason}`,
      EXIT.unauthorised,
    )
  if (status === 404 && namespaceIn(body) !== null) {
    const name = visibleText(namespaceIn(body)!)
    const text = `namespace '${name}' does not exist; create it with: kubectl create namespace ${name}`
    throw new Failure(text)
  }
  if (status === 403) throw new Failure(`may not ${what}: ${reason}`, EXIT.unauthorised)
  if (status === 409) throw new Failure(`cannot ${what}: ${reason}; add --force to take over these fields`)
  if (status === 400 || status === 422) throw new Failure(`cannot ${what}: ${reason}`, EXIT.invalid)
  throw new Failure(`cannot ${what}: ${reason}`, isTemporary(answer) ? EXIT.unreachable : EXIT.failed)
}

/** Returns the name of the namespace that an answer says is missing, or null. */
function namespaceIn(body: unknown): string | null {
  const { details } = (body ?? {}) as {
    readonly details?: { readonly kind?: string; readonly name?: unknown }
  }
  return details?.kind === 'namespaces' && typeof details.name === 'string' ? details.name : null
}

/** Returns the API path of the objects of a kind in a namespace. */
export function listPath(
  { apiVersion, kind }: Pick<KubernetesObject, 'apiVersion' | 'kind'>,
  namespace: string,
): string {
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  return `${root}/namespaces/${encodeURIComponent(namespace)}/${RESOURCES[kind]}`
}

function pathOf(object: KubernetesObject): string {
  return `${listPath(object, object.metadata.namespace)}/${encodeURIComponent(object.metadata.name)}`
}
