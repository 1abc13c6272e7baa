import { discoveryRights, serviceAccount } from './access.js'
import { checkController } from './controller.js'
import { type DocumentFacts, documentFacts, fitsConfigMap } from './document-facts.js'
import { refuseSecrets, writtenFolders } from './document-files.js'
import { metricsService, monitors } from './monitoring.js'
import { networkPolicy, service } from './network.js'
import { type KubernetesObject, metadataOf, type ObjectIdentity } from './object.js'
import { ObjectsError } from './raw-document.js'
import { autoscaler, disruptionBudget } from './scaling.js'
import type { ObjectSettings } from './settings.js'
import { DATA_FOLDER, DOCUMENT_KEY, deployment } from './workload.js'

/** Annotation of the ConfigMap with the SHA-256 of its document, in hexadecimal. */
const DOCUMENT_SHA256 = 'sluice/document-sha256'

/** Kubernetes objects of one gateway. */
export interface GatewayObjects {
  /** Objects in creation order. */
  readonly objects: readonly KubernetesObject[]
  /** Manual steps for settings that cannot be derived from the document. */
  readonly notes: readonly string[]
}

/** Valid Service names, with room for suffixes. */
const NAME = /^[a-z]([-a-z0-9]{0,50}[a-z0-9])?$/
const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/**
 * Returns the objects of a gateway. The manifests in `deploy` are generated from them, and tests compare those of the Helm chart.
 * @param document text of a validated document (see checkForElsewhere)
 * @throws ObjectsError if the document or the settings are incomplete; the message includes the fix
 */
export function gatewayObjects(document: string, settings: ObjectSettings): GatewayObjects {
  checkIdentity(settings)
  const facts = documentFacts(document)
  const { control } = settings
  if (control === undefined) refuseSecrets(facts)
  else checkController(control)
  const { autoscaling, monitoring, network = {}, disruptionBudget: budget = { maxUnavailable: 1 } } = settings
  const objects = [
    serviceAccount(settings),
    ...discoveryRights(facts, settings),
    ...(control === undefined ? [configMap(facts, settings)] : []),
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

function configMap(facts: DocumentFacts, identity: ObjectIdentity): KubernetesObject {
  const { text, sha256 } = facts
  if (!fitsConfigMap(facts))
    throw new ObjectsError(
      `the document has ${Buffer.byteLength(text)} bytes, but a ConfigMap holds 1,000,000; use a controller: control.url of the Helm chart`,
    )
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
  return destinations.unknown.map(
    (at) =>
      `the NetworkPolicy does not allow connections to ${at}, whose address is not in the document; add a NetworkPolicy, or networkPolicy.egress of the chart`,
  )
}

function folderNotes({ root }: DocumentFacts): string[] {
  const elsewhere = writtenFolders(root).filter(
    ({ dir }) => dir !== DATA_FOLDER && !dir.startsWith(`${DATA_FOLDER}/`),
  )
  return elsewhere.map(
    ({ at, dir }) =>
      `${at} is '${dir}', which a pod cannot write without a volume; remove it or add a volume`,
  )
}
