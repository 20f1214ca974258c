/** May this name a field of what is stored? Not what an encoder takes for a type, an operator, a path or the end of a name. */
export const isFieldName = (name: string): boolean =>
  name.isWellFormed() && !/^\$|[.\0]|^(_bsontype|toBSON|toJSON|__proto__)$/.test(name)
