import type { TSchema } from '@sinclair/typebox'
import type { PolicyCost } from '@sluice/core'

/** A package that provides policies. */
export interface PluginPlan {
  readonly name: string
  /** Name in its `package.json`. */
  readonly package: string
  readonly version: string
  /** Supported versions of the plugin contract, as a semantic version range. */
  readonly contract: string
  /** Absolute path of the module that exports the policies. */
  readonly entry: string
  /** SHA-256 of the package files without dependencies, in hexadecimal. */
  readonly digest: string
  readonly policies: readonly PluginPolicyPlan[]
}

/** Description of a policy of a plugin. */
export interface PluginPolicyPlan {
  readonly name: string
  readonly summary: string
  readonly cost: PolicyCost
  /** JSON Schema of its parameters. */
  readonly schema: TSchema
}
