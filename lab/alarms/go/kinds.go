// Package kinds calls the kinds of code of the study.
package kinds

// void arithmetic(void), hashing(void), memory(void), allocation(void), calls(void);
import "C"

func arithmetic() { C.arithmetic() }
func hashing()    { C.hashing() }
func memory()     { C.memory() }
func allocation() { C.allocation() }
func calls()      { C.calls() }
