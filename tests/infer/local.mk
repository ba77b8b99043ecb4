# infer
