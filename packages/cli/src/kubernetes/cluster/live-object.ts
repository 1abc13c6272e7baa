import { EXIT, Failure } from '../../failure.js'
import type { KubernetesObject, ObjectMeta } from '../objects/object.js'

/** A live object, with what the API server adds. */
export interface LiveObject extends KubernetesObject {
  readonly metadata: LiveMeta
  readonly spec?: Readonly<Record<string, unknown>>
  readonly status?: Readonly<Record<string, unknown>>
}

/** What the API server says of an object beyond what it was given. */
export interface LiveMeta extends ObjectMeta {
  /** Of this object alone: one that is made anew under the same name has another. */
  readonly uid: string
  readonly resourceVersion: string
  /** There once it is to go. */
  readonly deletionTimestamp?: string
  /** Field managers and the fields that each has set; the keys of fields begin with `f:`. */
  readonly managedFields?: readonly {
    readonly manager?: string
    readonly fieldsV1?: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>
  }[]
  readonly ownerReferences?: readonly { readonly uid: string; readonly controller?: boolean }[]
}

/** What names of objects and labels are made of. */
const NAME = /^[-._a-zA-Z0-9]{0,253}$/
const UID = /^[-._:a-zA-Z0-9]{1,128}$/

/**
 * An object as the API server sends it: names that can stand in paths and messages, and parts of the shape that they have.
 * @throws Failure when it is none.
 */
export function liveObject(value: unknown): LiveObject {
  if (!isMapping(value) || !isMeta(value['metadata']) || !['spec', 'status', 'data'].every(isPart, value))
    throw new Failure(EXIT.failed, 'the API server returned no Kubernetes object')
  return value as LiveObject
}

/** The items of a list. @throws Failure when it is none. */
export function liveObjects(list: object): LiveObject[] {
  const { items } = list as { readonly items?: unknown }
  if (!Array.isArray(items)) throw new Failure(EXIT.failed, 'the API server returned no list')
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
