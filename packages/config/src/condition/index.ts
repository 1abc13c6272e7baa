export {
  type Condition,
  type ConditionCheck,
  type ConditionNeeds,
  checkCondition,
  compileCondition,
} from './condition.js'
export { ConditionError } from './condition-error.js'
export type { ConditionFlaw, ConditionScope } from './parser.js'
