package controlplane

func processSpecs() {}
