import type Core from 'ajv/dist/core.js'

/** Supported drafts of JSON Schema. */
export const DRAFTS = ['04', '07', '2019-09', '2020-12'] as const

/** A supported draft of JSON Schema. */
export type Draft = (typeof DRAFTS)[number]

/** An Ajv schema compiler of any draft. */
export type Ajv = Core.default
