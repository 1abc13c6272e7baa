import { discoveryRights, serviceAccount } from './access.js'
import { type DocumentFacts, documentFacts } from './document-facts.js'
import { refuseSecrets, writtenFolders } from './document-files.js'
import { metricsService, monitors } from './monitoring.js'
import { networkPolicy, service } from './network.js'
import { type KubernetesObject, metadataOf, type ObjectIdentity } from './object.js'
import { ObjectsError } from './raw-document.js'
import { autoscaler, disruptionBudget } from './scaling.js'
import type { ObjectSettings } from './settings.js'
import { DATA_FOLDER, DOCUMENT_KEY, deployment } from './workload.js'

/** The annotation of the ConfigMap: SHA-256 of the document in it, hexadecimal. */
const DOCUMENT_SHA256 = 'sluice/document-sha256'

/** Everything that one gateway is in a cluster. */
export interface GatewayObjects {
  /** In the order in which they can be created. */
  readonly objects: readonly KubernetesObject[]
  /** What the user has to see to because the document does not tell it. */
  readonly notes: readonly string[]
}

/** What Kubernetes takes as the name of a Service, with room for suffixes; and as that of a namespace. */
const NAME = /^[a-z]([-a-z0-9]{0,50}[a-z0-9])?$/
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/**
 * The objects of a gateway with this document. The Helm chart and the manifests in `deploy` are made of them too.
 * @param document its text, which has been checked (see checkForElsewhere).
 * @throws ObjectsError when the document or the settings say too little; its message names the remedy.
 */
export function gatewayObjects(document: string, settings: ObjectSettings): GatewayObjects {
  checkIdentity(settings)
  const facts = documentFacts(document)
  refuseSecrets(facts)
  const { autoscaling, monitoring, network = {}, disruptionBudget: budget = { maxUnavailable: 1 } } = settings
  const objects = [
    serviceAccount(settings),
    ...discoveryRights(facts, settings),
    configMap(facts, settings),
    service(facts, settings),
    ...(facts.metricsPort === null ? [] : [metricsService(settings, facts.metricsPort)]),
    ...(network === null ? [] : [networkPolicy(facts, settings, network)]),
    deployment(facts, settings),
    ...(budget === null ? [] : [disruptionBudget(settings, budget)]),
    ...(autoscaling === undefined ? [] : [autoscaler(settings, autoscaling)]),
    ...(monitoring === undefined ? [] : monitors(facts, settings, monitoring)),
  ]
  return {
    objects,
    notes: network === null ? folderNotes(facts) : [...networkNotes(facts), ...folderNotes(facts)],
  }
}

function configMap({ text, sha256 }: DocumentFacts, identity: ObjectIdentity): KubernetesObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...metadataOf(identity), annotations: { [DOCUMENT_SHA256]: sha256 } },
    data: { [DOCUMENT_KEY]: text },
  }
}

function checkIdentity({ name, namespace }: ObjectIdentity): void {
  if (!NAME.test(name))
    throw new ObjectsError(
      `'${name}' is not a valid gateway name; use at most 52 lower-case letters, digits and hyphens`,
    )
  if (!NAMESPACE.test(namespace)) throw new ObjectsError(`'${namespace}' is not a valid namespace name`)
}

function networkNotes({ destinations }: DocumentFacts): string[] {
  return destinations.unknown.map((at) => {
    return `the NetworkPolicy does not open the way to ${at}, which the document does not tell; add a NetworkPolicy that does, or networkPolicy.egress of the chart`
  })
}

function folderNotes({ root }: DocumentFacts): string[] {
  const elsewhere = writtenFolders(root).filter(
    ({ dir }) => dir !== DATA_FOLDER && !dir.startsWith(`${DATA_FOLDER}/`),
  )
  return elsewhere.map(({ at, dir }) => {
    return `${at} is '${dir}', which a pod cannot write without a volume; remove it or add a volume`
  })
}
