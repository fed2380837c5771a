package kinds

import "testing"

func run(b *testing.B, kind func()) {
	for range b.N {
		kind()
	}
}

func BenchmarkArithmetic(b *testing.B) { run(b, arithmetic) }
func BenchmarkHashing(b *testing.B)    { run(b, hashing) }
func BenchmarkMemory(b *testing.B)     { run(b, memory) }
func BenchmarkAllocation(b *testing.B) { run(b, allocation) }
func BenchmarkCalls(b *testing.B)      { run(b, calls) }
