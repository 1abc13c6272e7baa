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
import { EXIT, Failure } from '../../failure.js'
import { say } from '../../output/output.js'
import type { KubernetesObject } from '../objects/object.js'
import { execCredentials } from './exec-credentials.js'
import { type LiveObject, liveObject, liveObjects } from './live-object.js'

export type { LiveObject } from './live-object.js'

/** Which cluster is meant; absent members as kubectl has them. */
export interface ClusterOptions {
  readonly kubeconfig?: string
  readonly context?: string
}

/** How an object is applied. */
export interface ApplyOptions {
  readonly isTrial: boolean
  /** Takes over fields that others have set. */
  readonly isForced: boolean
  /** Who owns the fields; default: gw. */
  readonly manager?: string
}

/** The names of lists, by kind; all of these objects have a namespace. */
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
/** Who owns the fields that gw sets. */
export const FIELD_MANAGER = 'sluice'

/** One cluster, through its API server. Every failure is one of the command. */
export class Cluster {
  readonly client: ApiClient
  #patienceMs = 0

  constructor(access: ClusterAccess) {
    this.client = new ApiClient(access)
  }

  /** The namespace for what names none. */
  get namespace(): string {
    return this.client.access.namespace
  }

  /**
   * From now on what the API server does not answer, or answers with 429 or 5xx, is sent again for so long: for work that
   * has begun. Every request here can be repeated.
   */
  retryFor(ms: number): void {
    this.#patienceMs = ms
  }

  /** Null: there is no such object. */
  async read(object: KubernetesObject): Promise<LiveObject | null> {
    const answer = await this.#send('GET', pathOf(object))
    if (answer.status === 404) return null
    return liveObject(checked(answer, `read ${nameOf(object)}`))
  }

  /** Server-side apply; answers with the object as it is then, or would be. */
  async apply(
    object: KubernetesObject,
    { isTrial, isForced, manager = FIELD_MANAGER }: ApplyOptions,
  ): Promise<LiveObject> {
    const query = new URLSearchParams({ fieldManager: manager, fieldValidation: 'Strict' })
    if (isTrial) query.set('dryRun', 'All')
    if (isForced) query.set('force', 'true')
    const answer = await this.#send('PATCH', `${pathOf(object)}?${query}`, JSON.stringify(object))
    return liveObject(checked(answer, `apply ${nameOf(object)}`))
  }

  /** Removes this object, and none that was made under its name meanwhile. One that is gone already is no failure. */
  async remove(object: LiveObject): Promise<void> {
    const preconditions = { uid: object.metadata.uid }
    const options = {
      ...{ apiVersion: 'v1', kind: 'DeleteOptions' },
      ...{ propagationPolicy: 'Background', preconditions },
    }
    const answer = await this.#send('DELETE', pathOf(object), JSON.stringify(options))
    if (answer.status === 409)
      throw new Failure(EXIT.failed, `${nameOf(object)} was recreated by someone else and is kept`)
    if (answer.status !== 404) checked(answer, `delete ${nameOf(object)}`)
  }

  /** The objects of a kind that have these labels. */
  async list(
    type: Pick<KubernetesObject, 'apiVersion' | 'kind'>,
    namespace: string,
    labels: Readonly<Record<string, string>>,
  ): Promise<LiveObject[]> {
    const selector = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
    const path = listPath(type, namespace)
    const answer = await this.#send('GET', `${path}?labelSelector=${encodeURIComponent(selector.join())}`)
    return liveObjects(checked(answer, `list the ${RESOURCES[type.kind]} of ${namespace}`))
  }

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
        if (isLast || !isPassing(answer)) return answer
      } catch (error) {
        if (isLast || !(error instanceof ApiUnreachable))
          throw clusterFailure(error, this.client.access.server)
      }
      await sleep(RETRY_MS)
    }
  }
}

/** The cluster that is meant: `--kubeconfig`, else KUBECONFIG, else ~/.kube/config, else the one of this pod. */
export async function openCluster({ kubeconfig, context }: ClusterOptions): Promise<Cluster> {
  const file = kubeconfig ?? standardKubeconfig()
  if (file === null && !process.env['KUBERNETES_SERVICE_HOST'])
    throw new Failure(EXIT.failed, 'there is no cluster to speak to; name its kubeconfig with --kubeconfig')
  try {
    const options = { context: context ?? null, runExec: execCredentials() }
    const access = file === null ? await inClusterAccess() : await kubeconfigAccess(file, options)
    if (access.isInsecure) say('the certificate of the API server is not checked (insecure-skip-tls-verify)')
    return new Cluster(access)
  } catch (error) {
    if (error instanceof AccessError) throw new Failure(EXIT.failed, visibleText(error.message))
    throw error
  }
}

function standardKubeconfig(): string | null {
  const named = process.env['KUBECONFIG'] ?? ''
  const files = named.split(delimiter).filter((file) => file !== '')
  if (files.length > 1)
    throw new Failure(EXIT.usage, 'KUBECONFIG names several files; name one with --kubeconfig')
  const standard = join(homedir(), '.kube', 'config')
  return files[0] ?? (existsSync(standard) ? standard : null)
}

/** `Deployment/sluice`, `Role/gateways.sluice in shop`. */
export function nameOf({ kind, metadata }: KubernetesObject): string {
  return `${kind}/${metadata.name}`
}

/** Why the API server gave no answer, as the failure of a command. */
export function clusterFailure(error: unknown, server: URL): unknown {
  if (error instanceof AccessError) return new Failure(EXIT.unauthorised, visibleText(error.message))
  if (!(error instanceof ApiUnreachable)) return error
  return new Failure(
    EXIT.unreachable,
    `cannot reach the API server at ${server.origin} (${reasonOfCode(error.message) ?? error.message})`,
  )
}

/** The API server has too much to do, or what it needs is away: it may be better in a moment. */
function isPassing({ status }: ApiAnswer): boolean {
  return status === 429 || status >= 500
}

function checked(answer: ApiAnswer, what: string): object {
  const { status, body } = answer
  if (status >= 200 && status < 300 && typeof body === 'object' && body !== null) return body
  const reason = visibleText(statusMessage(answer))
  if (status === 401)
    throw new Failure(
      EXIT.unauthorised,
      `the API server does not take the credentials of the kubeconfig: ${reason}`,
    )
  if (status === 404 && namespaceIn(body) !== null) {
    const name = visibleText(namespaceIn(body)!)
    const text = `namespace '${name}' does not exist; create it with: kubectl create namespace ${name}`
    throw new Failure(EXIT.failed, text)
  }
  if (status === 403) throw new Failure(EXIT.unauthorised, `may not ${what}: ${reason}`)
  if (status === 409)
    throw new Failure(EXIT.failed, `cannot ${what}: ${reason}; --force takes these fields over`)
  if (status === 400 || status === 422) throw new Failure(EXIT.invalid, `cannot ${what}: ${reason}`)
  throw new Failure(isPassing(answer) ? EXIT.unreachable : EXIT.failed, `cannot ${what}: ${reason}`)
}

/** Returns the name of the namespace that an answer says is missing, or null. */
function namespaceIn(body: unknown): string | null {
  const { details } = (body ?? {}) as {
    readonly details?: { readonly kind?: string; readonly name?: unknown }
  }
  return details?.kind === 'namespaces' && typeof details.name === 'string' ? details.name : null
}

/** The path of a list. */
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
