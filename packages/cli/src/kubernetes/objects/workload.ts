import { DRAIN_GRACE_MS } from '@sluice/gateway'
import type { DocumentFacts } from './document-facts.js'
import { fileSources } from './document-files.js'
import { type KubernetesObject, metadataOf, present, selectorLabels } from './object.js'
import { clientPorts, probedPort, supervisorPorts } from './ports.js'
import { ObjectsError } from './raw-document.js'
import type { ObjectSettings, Verbatim } from './settings.js'
import { tierResources } from './tiers.js'

/** Where the document lies in a pod; relative paths in it begin here. */
export const DOCUMENT_FOLDER = '/etc/sluice'
/** The key of the document in its ConfigMap, and its name in the folder. */
export const DOCUMENT_KEY = 'gateway.yaml'
/** The working directory: traffic log, spool, and what a gateway keeps for its next start. */
export const DATA_FOLDER = '/var/lib/sluice'
/** The annotation of pods that says for which document they were replaced last. */
const REPLACED_FOR = 'checksum/document'

/** No user of the node has it. The image may have another one: nothing in it is written. */
const USER = 10_001
/** Until all nodes and load balancers know that a pod ends, new requests come to it. */
export const PROPAGATION_MS = 5000
/** Between the end of a gateway and the kubelet's SIGKILL. */
export const MARGIN_MS = 2000
/** Beside records: the last good document, the history of deploys. */
export const DATA_BYTES = 256 * 1024 ** 2

/** A new pod before an old one. */
export const STRATEGY: Verbatim = {
  type: 'RollingUpdate',
  rollingUpdate: { maxSurge: 1, maxUnavailable: 0 },
}
export const PROBE_TIMES = {
  startupProbe: { periodSeconds: 1, timeoutSeconds: 5, failureThreshold: 60 },
  readinessProbe: { periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 2 },
  livenessProbe: { periodSeconds: 10, timeoutSeconds: 5, failureThreshold: 3 },
}
/** Pods spread over these where they can. */
export const SPREAD_OVER = ['kubernetes.io/hostname', 'topology.kubernetes.io/zone']
export const SPREAD: Verbatim = {
  maxSkew: 1,
  whenUnsatisfiable: 'ScheduleAnyway',
  matchLabelKeys: ['pod-template-hash'],
}

/** The pods of one tier. */
export function deployment(facts: DocumentFacts, settings: ObjectSettings): KubernetesObject {
  const { replicas, autoscaling, podLabels = {}, podAnnotations = {} } = settings
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadataOf(settings),
    spec: present({
      // With an autoscaler it is that one's to say.
      replicas: autoscaling === undefined ? replicas : undefined,
      revisionHistoryLimit: 5,
      selector: { matchLabels: selectorLabels(settings) },
      strategy: settings.strategy ?? STRATEGY,
      template: {
        metadata: {
          labels: { ...selectorLabels(settings), ...podLabels },
          annotations: { [REPLACED_FOR]: settings.replacedFor ?? facts.sha256, ...podAnnotations },
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
    // Nothing in a pod asks the API server, but for service discovery.
    automountServiceAccountToken: facts.serviceNamespaces.length > 0,
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
  const { image, imagePullPolicy, extraVolumeMounts = [], envFrom } = settings
  const { tier, ephemeralStorage, resources = tierResources(tier, ephemeralStorage) } = settings
  const sleepSeconds = preStopSeconds(facts)
  return present({
    name: 'gateway',
    image,
    imagePullPolicy,
    args: ['start', `${DOCUMENT_FOLDER}/${DOCUMENT_KEY}`],
    workingDir: DATA_FOLDER,
    env: environment(facts, settings),
    envFrom,
    ports: [...clientPorts(facts), ...supervisorPorts(facts)].map(({ name, port }) => ({
      name,
      containerPort: port,
      protocol: 'TCP',
    })),
    resources,
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    ...probes(facts, settings),
    lifecycle: settings.lifecycle ?? sleepBefore(sleepSeconds),
    volumeMounts: [
      { name: 'document', mountPath: DOCUMENT_FOLDER, readOnly: true },
      { name: 'data', mountPath: DATA_FOLDER },
      { name: 'tmp', mountPath: '/tmp' },
      ...extraVolumeMounts,
    ],
  })
}

/** Liveness asks whether the event loop turns, readiness whether a configuration serves and no drain has begun. */
function probes(facts: DocumentFacts, settings: ObjectSettings): object {
  const { name, scheme, alivePath, readyPath } = probedPort(facts)
  const alive = { httpGet: { path: alivePath, port: name, scheme } }
  const ready = { httpGet: { path: readyPath, port: name, scheme } }
  return {
    startupProbe: { ...alive, ...PROBE_TIMES.startupProbe, ...settings.startupProbe },
    readinessProbe: { ...ready, ...PROBE_TIMES.readinessProbe, ...settings.readinessProbe },
    livenessProbe: { ...alive, ...PROBE_TIMES.livenessProbe, ...settings.livenessProbe },
  }
}

function sleepBefore(seconds: number): Verbatim | undefined {
  return seconds === 0 ? undefined : { preStop: { sleep: { seconds } } }
}

function spreadOver(topologyKey: string, settings: ObjectSettings): object {
  const labelSelector = { matchLabels: selectorLabels(settings) }
  return { ...SPREAD, topologyKey, labelSelector }
}

/** Variables whose value the Secret does not have are left out, so that the gateway itself says which one is missing. */
function environment({ variables }: DocumentFacts, { secret, extraEnv = [] }: ObjectSettings): object[] {
  const given = new Set(extraEnv.map(({ name }) => name))
  const wanted = variables.filter(({ name }) => !given.has(name))
  const missing = wanted.find(({ isRequired }) => isRequired)
  if (secret === undefined && missing !== undefined)
    throw new ObjectsError(
      `the document refers to \${env:${missing.name}}; name the Secret that holds its value`,
    )
  const referred = wanted.map(({ name }) => ({
    name,
    valueFrom: { secretKeyRef: { name: secret, key: name, optional: true } },
  }))
  return [...(secret === undefined ? [] : referred), ...extraEnv]
}

function volumes(facts: DocumentFacts, settings: ObjectSettings): object[] {
  const { dataVolume, extraVolumes = [], name } = settings
  const sizeLimit = `${Math.ceil((facts.storedBytes + DATA_BYTES) / 1024 ** 2)}Mi`
  const document = { configMap: { name, items: [{ key: DOCUMENT_KEY, path: DOCUMENT_KEY }] } }
  return [
    { name: 'document', projected: { sources: [document, ...fileSources(facts, settings)] } },
    { name: 'data', ...(dataVolume ?? { emptyDir: { sizeLimit } }) },
    { name: 'tmp', emptyDir: present({ sizeLimit: settings.tmpSizeLimit }) },
    ...extraVolumes,
  ]
}

/**
 * How long a pod that is to end goes on as if nothing were: what the document's own delay, during which readiness is 503
 * already, leaves of the time in which requests still come.
 */
export function preStopSeconds({ drainDelayMs }: DocumentFacts): number {
  return Math.ceil(Math.max(0, PROPAGATION_MS - drainDelayMs) / 1000)
}

/** preStop, the delay, the requests in flight, and what the gateway grants itself to write out the traffic log. */
export function gracePeriodSeconds(facts: DocumentFacts): number {
  const { drainDelayMs, drainTimeoutMs } = facts
  const gatewayMs = drainDelayMs + drainTimeoutMs + DRAIN_GRACE_MS + MARGIN_MS
  return preStopSeconds(facts) + Math.ceil(gatewayMs / 1000)
}

/** A port below 1024 takes no privilege but this sysctl, which Kubernetes counts among the safe ones. */
function lowPorts({ listeners }: DocumentFacts): object[] {
  const lowest = Math.min(...listeners.map(({ port }) => port))
  return lowest < 1024 ? [{ name: 'net.ipv4.ip_unprivileged_port_start', value: String(lowest) }] : []
}

/** For which document the pods of a Deployment were replaced last; undefined: it does not say. */
export function replacedForOf(live: KubernetesObject): string | undefined {
  const { template } = (live['spec'] ?? {}) as {
    readonly template?: { readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> } }
  }
  return template?.metadata?.annotations?.[REPLACED_FOR]
}
