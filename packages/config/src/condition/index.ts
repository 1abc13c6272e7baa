export {
  type Condition,
  type ConditionCheck,
  type ConditionNeeds,
  checkCondition,
  compileCondition,
  compileExpression,
} from './condition.js'
export { ConditionError } from './condition-error.js'
export type { ConditionFlaw, ConditionScope } from './parser.js'
