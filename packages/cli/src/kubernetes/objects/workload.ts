import { DRAIN_GRACE_MS } from '@sluice/gateway'
import { CONTROLLED, controllerEnvironment, controllerSources } from './controller.js'
import type { DocumentFacts } from './document-facts.js'
import { fileSources } from './document-files.js'
import { type KubernetesObject, metadataOf, present, selectorLabels } from './object.js'
import { containerPorts, type ProbedPort, probedPort } from './ports.js'
import { ObjectsError } from './raw-document.js'
import type { ObjectSettings, Verbatim } from './settings.js'
import { tierResources } from './settings.js'

/** Folder of the document in a pod. Relative paths in the document refer to it. */
export const DOCUMENT_FOLDER = '/etc/sluice'
/** Key of the document in its ConfigMap, and its file name. */
export const DOCUMENT_KEY = 'gateway.yaml'
/** Working directory for the traffic log, the spool and the saved state of the gateway. */
export const DATA_FOLDER = '/var/lib/sluice'
/** Folder of the service account token for the login to Vault. */
const VAULT_TOKEN_FOLDER = '/var/run/secrets/vault'
/** Pod annotation with the SHA-256 of the document of the last pod replacement. */
const REPLACED_FOR = 'checksum/document'

/** User id that is unused on nodes. The image may use another one, because its files are read-only. */
const USER = 10_001
/** Time until all nodes and load balancers stop sending new requests to a terminating pod. */
const PROPAGATION_MS = 5000
/** Time between the planned exit of a gateway and the kubelet's SIGKILL. */
const MARGIN_MS = 2000
/** Disk space for the last valid document and the deployment history, in bytes. */
const DATA_BYTES = 256 * 1024 ** 2

/** Update strategy: starts a new pod before an old one stops. */
export const STRATEGY: Verbatim = { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } }
/** Default times and thresholds of the probes. */
const PROBE_TIMES = {
  startupProbe: { periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 60 },
  readinessProbe: { periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 2 },
  livenessProbe: { periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 },
}
/** Topology keys over which pods are spread. */
export const SPREAD_OVER = ['kubernetes.io/hostname', 'topology.kubernetes.io/zone']
export const SPREAD: Verbatim = {
  maxSkew: 1,
  whenUnsatisfiable: 'ScheduleAnyway',
  matchLabelKeys: ['pod-template-hash'],
}

/** Returns the Deployment. */
export function deployment(facts: DocumentFacts, settings: ObjectSettings): KubernetesObject {
  const { replicas, autoscaling, podLabels = {}, podAnnotations = {} } = settings
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadataOf(settings),
    spec: present({
      // An autoscaler sets the number itself.
      replicas: autoscaling === undefined ? replicas : undefined,
      revisionHistoryLimit: 5,
      selector: { matchLabels: selectorLabels(settings) },
      strategy: settings.strategy ?? STRATEGY,
      template: {
        metadata: {
          labels: { ...selectorLabels(settings), ...podLabels },
          annotations: {
            ...(settings.control === undefined && { [REPLACED_FOR]: settings.replacedFor ?? facts.sha256 }),
            ...podAnnotations,
          },
        },
        spec: podSpec(facts, settings),
      },
    }),
  }
}

function podSpec(facts: DocumentFacts, settings: ObjectSettings): object {
  const { imagePullSecrets = [], nodeSelector, tolerations, affinity, priorityClassName } = settings
  const { initContainers, sidecars = [], dnsPolicy, dnsConfig } = settings
  return present({
    serviceAccountName: settings.name,
    // Only service discovery and the login to Vault use the token.
    automountServiceAccountToken:
      facts.serviceNamespaces.length > 0 || (facts.logsInToVault && settings.vaultAudience === undefined),
    imagePullSecrets: imagePullSecrets.map((name) => ({ name })),
    securityContext: present({
      runAsNonRoot: true,
      runAsUser: USER,
      runAsGroup: USER,
      fsGroup: USER,
      fsGroupChangePolicy: 'OnRootMismatch',
      seccompProfile: { type: 'RuntimeDefault' },
      sysctls: lowPorts(facts),
    }),
    priorityClassName,
    terminationGracePeriodSeconds: settings.terminationGracePeriodSeconds ?? gracePeriodSeconds(facts),
    dnsPolicy,
    dnsConfig,
    initContainers,
    containers: [container(facts, settings), ...sidecars],
    volumes: volumes(facts, settings),
    topologySpreadConstraints:
      settings.topologySpreadConstraints ?? SPREAD_OVER.map((key) => spreadOver(key, settings)),
    nodeSelector,
    tolerations,
    affinity,
  })
}

function container(facts: DocumentFacts, settings: ObjectSettings): object {
  const { image, imagePullPolicy, extraVolumeMounts = [], envFrom, control, vaultAudience } = settings
  const { tier, ephemeralStorage, resources = tierResources(tier, ephemeralStorage) } = settings
  const sleepSeconds = preStopSeconds(facts)
  return present({
    name: 'gateway',
    image,
    imagePullPolicy,
    args: control === undefined ? ['start', `${DOCUMENT_FOLDER}/${DOCUMENT_KEY}`] : ['start'],
    workingDir: DATA_FOLDER,
    env: [
      ...(control === undefined ? [] : controllerEnvironment(control, DOCUMENT_FOLDER)),
      ...environment(facts, settings),
    ],
    envFrom,
    ports: containerPorts(facts),
    resources,
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    ...probes(probedPort(facts), settings),
    lifecycle: settings.lifecycle ?? sleepBefore(sleepSeconds),
    volumeMounts: [
      { name: 'document', mountPath: DOCUMENT_FOLDER, readOnly: true },
      { name: 'data', mountPath: DATA_FOLDER },
      { name: 'tmp', mountPath: '/tmp' },
      ...(vaultAudience === undefined
        ? []
        : [{ name: 'vault-token', mountPath: VAULT_TOKEN_FOLDER, readOnly: true }]),
      ...extraVolumeMounts,
    ],
  })
}

/** Returns the probes. Liveness checks the event loop; readiness needs an active configuration and no drain. */
export function probes(
  { name, scheme, alivePath, readyPath }: ProbedPort,
  settings: Partial<ObjectSettings> = {},
): object {
  const alive = { httpGet: { path: alivePath, port: name, scheme } }
  const ready = { httpGet: { path: readyPath, port: name, scheme } }
  // Without a document there is no port to probe: a pod may wait long for its first bundle.
  const waiting = settings.control === undefined ? {} : { failureThreshold: CONTROLLED.startSeconds }
  return {
    startupProbe: { ...alive, ...PROBE_TIMES.startupProbe, ...waiting, ...settings.startupProbe },
    readinessProbe: { ...ready, ...PROBE_TIMES.readinessProbe, ...settings.readinessProbe },
    livenessProbe: { ...alive, ...PROBE_TIMES.livenessProbe, ...settings.livenessProbe },
  }
}

/** Returns the `lifecycle` of a container that sleeps before SIGTERM. */
export function sleepBefore(seconds: number): Verbatim | undefined {
  return seconds === 0 ? undefined : { preStop: { sleep: { seconds } } }
}

function spreadOver(topologyKey: string, settings: ObjectSettings): object {
  const labelSelector = { matchLabels: selectorLabels(settings) }
  return { ...SPREAD, topologyKey, labelSelector }
}

/** Returns the environment. Secret keys are optional, so that the gateway starts and reports a missing variable. */
function environment({ variables }: DocumentFacts, { secret, extraEnv = [] }: ObjectSettings): object[] {
  const given = new Set(extraEnv.map(({ name }) => name))
  const wanted = variables.filter(({ name }) => !given.has(name))
  const missing = wanted.find(({ isRequired }) => isRequired)
  if (secret === undefined && missing !== undefined)
    throw new ObjectsError(
      `the document refers to \${env:${missing.name}}; specify the Secret that contains its value`,
    )
  const referred = wanted.map(({ name }) => ({
    name,
    valueFrom: { secretKeyRef: { name: secret, key: name, optional: true } },
  }))
  return [...(secret === undefined ? [] : referred), ...extraEnv]
}

function volumes(facts: DocumentFacts, settings: ObjectSettings): object[] {
  const { dataVolume, extraVolumes = [], name, control, vaultAudience } = settings
  const sizeLimit = storageSizeLimit(facts, control === undefined ? 0 : CONTROLLED.bundlesMib)
  const own =
    control === undefined
      ? [{ configMap: { name, items: [{ key: DOCUMENT_KEY, path: DOCUMENT_KEY }] } }]
      : controllerSources(control)
  return [
    { name: 'document', projected: { sources: [...own, ...fileSources(facts, settings)] } },
    { name: 'data', ...(dataVolume ?? { emptyDir: { sizeLimit } }) },
    { name: 'tmp', emptyDir: present({ sizeLimit: settings.tmpSizeLimit }) },
    ...(vaultAudience === undefined ? [] : [vaultToken(vaultAudience)]),
    ...extraVolumes,
  ]
}

function vaultToken(audience: string): object {
  const serviceAccountToken = { audience, expirationSeconds: 3600, path: 'token' }
  return { name: 'vault-token', projected: { sources: [{ serviceAccountToken }] } }
}

/** Returns the size of the working directory, in Kubernetes syntax. */
export function storageSizeLimit({ storedBytes }: DocumentFacts, moreMib = 0): string {
  return `${Math.ceil((storedBytes + DATA_BYTES) / 1024 ** 2) + moreMib}Mi`
}

/**
 * Returns the preStop sleep in seconds. It covers the part of the propagation time that exceeds the `drain.delay` of the
 * document, during which readiness is already 503.
 */
export function preStopSeconds({ drainDelayMs }: DocumentFacts): number {
  return Math.ceil(Math.max(0, PROPAGATION_MS - drainDelayMs) / 1000)
}

/** Returns the grace period in seconds: preStop sleep, drain delay, drain timeout and time to flush the traffic log. */
export function gracePeriodSeconds(facts: DocumentFacts): number {
  const { drainDelayMs, drainTimeoutMs } = facts
  const gatewayMs = drainDelayMs + drainTimeoutMs + DRAIN_GRACE_MS + MARGIN_MS
  return preStopSeconds(facts) + Math.ceil(gatewayMs / 1000)
}

/** Returns the sysctl for ports below 1024. Kubernetes classifies it as safe, and no other privilege is needed. */
export function lowPorts({ listeners }: DocumentFacts): object[] {
  const lowest = Math.min(...listeners.map(({ port }) => port))
  return lowest < 1024 ? [{ name: 'net.ipv4.ip_unprivileged_port_start', value: String(lowest) }] : []
}

/** Returns the SHA-256 of the document of the last pod replacement, or undefined. */
export function replacedForOf(live: KubernetesObject): string | undefined {
  const { template } = (live['spec'] ?? {}) as {
    readonly template?: { readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> } }
  }
  return template?.metadata?.annotations?.[REPLACED_FOR]
}
