import { Failure } from '../../output/failure.js'
import type { KubernetesObject, ObjectMeta } from '../objects/object.js'

/** An object in the cluster, including the fields that the API server sets. */
export interface LiveObject extends KubernetesObject {
  readonly metadata: LiveMeta
  readonly spec?: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>>
}

/** Metadata of an object in the cluster, including the fields that the API server sets. */
export interface LiveMeta extends ObjectMeta {
  /** Unique id. An object that is recreated with the same name gets a new one. */
  readonly uid: string
  readonly resourceVersion: string
  /** Time of the deletion request; absent without one. */
  readonly deletionTimestamp?: string
  /** Field managers and the fields that each owns. Field keys have the prefix `f:`. */
  readonly managedFields?: readonly {
    readonly manager?: string
    readonly fieldsV1?: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>
  }[]
  readonly ownerReferences?: readonly { readonly uid: string; readonly controller?: boolean }[]
}

/** Characters and length of object names and label values. */
const NAME = /^[-._a-zA-Z0-9]{0,253}$/
const UID = /^[-._:a-zA-Z0-9]{1,128}$/

/**
 * Validates an object from the API server: its names are safe in paths and messages, its parts are objects.
 * @throws Failure if it is not a Kubernetes object
 */
export function liveObject(value: unknown): LiveObject {
  if (!isMapping(value) || !isMeta(value['metadata']) || !['spec', 'status', 'data'].every(isPart, value))
    throw new Failure('the API server did not return a Kubernetes object')
  return value as LiveObject
}

/** Returns the validated items of a list. @throws Failure if the value is not a list of objects */
export function liveObjects(list: object): LiveObject[] {
  const { items } = list as { readonly items?: unknown }
  if (!Array.isArray(items)) throw new Failure('the API server did not return a list')
  return items.map(liveObject)
}

function isMeta(value: unknown): boolean {
  if (!isMapping(value)) return false
  const { name, namespace, uid, labels = {}, ownerReferences = [], managedFields = [] } = value
  if (![name, namespace].every(isName) || !isUid(uid)) return false
  const areOwners =
    Array.isArray(ownerReferences) && ownerReferences.every((one) => isMapping(one) && isUid(one['uid']))
  if (!Array.isArray(managedFields) || !managedFields.every(isMapping)) return false
  return areOwners && isMapping(labels) && Object.values(labels).every(isName)
}

function isPart(this: Readonly<Record<string, unknown>>, key: string): boolean {
  return this[key] === undefined || isMapping(this[key])
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && NAME.test(value)
}

function isUid(value: unknown): boolean {
  return typeof value === 'string' && UID.test(value)
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
