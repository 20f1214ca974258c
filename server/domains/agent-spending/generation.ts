import type { Node } from '#server/kernel/context'
import type { Model } from '#server/ports/model/port'
import { AppError } from '#shared/errors'

/** What agents answer by. Throws where none is configured. */
export function modelOf({ services: { model } }: Pick<Node, 'services'>): Model {
  if (!model) throw new AppError('SERVICE_UNAVAILABLE', { message: 'No model is configured here' })
  return model
}

/** The one value that the field `model` of an agent has. */
export const modelName = ({ services: { model } }: Pick<Node, 'services'>): string => model?.name ?? 'none'
