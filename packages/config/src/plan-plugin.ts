import type { TSchema } from '@sinclair/typebox'
import type { PolicyCost } from '@sluice/core'

/** A package whose policies routes can use. */
export interface PluginPlan {
  /** As the document names it. */
  readonly name: string
  /** As its `package.json` names it. */
  readonly package: string
  readonly version: string
  /** The versions of the contract that it is made for, as a range of semantic versions. */
  readonly contract: string
  /** Absolute path of the module that exports its policies. */
  readonly entry: string
  /** SHA-256 of the files of the package, those of its dependencies left out, in hexadecimal. */
  readonly digest: string
  readonly policies: readonly PluginPolicyPlan[]
}

/** What a policy of a plugin says of itself. */
export interface PluginPolicyPlan {
  readonly name: string
  readonly summary: string
  readonly cost: PolicyCost
  /** JSON Schema of its parameters. */
  readonly schema: TSchema
}
