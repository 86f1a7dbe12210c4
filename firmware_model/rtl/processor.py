"""Two small RISC-V processors of others behind one bus: what differs between them is only here.

The processors are Verilog files of the packages `pythondata-cpu-picorv32` and `pythondata-cpu-serv`.
"""

from __future__ import annotations

from amaranth.hdl import ClockSignal, Const, Instance, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class Bus(wiring.Signature):
    """A word of 32 bits; `valid` and what goes with it hold until the cycle in which `ready` is high."""

    def __init__(self) -> None:
        super().__init__(
            {
                "valid": Out(1),
                "address": Out(32),
                "strobes": Out(4),
                "written": Out(32),
                "ready": In(1),
                "found": In(32),
            }
        )


class Processor(wiring.Component):
    """A processor that starts at address 0 when `halt` falls."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__({"bus": Out(Bus()), "halt": In(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules[self.name] = self._picorv32() if self.name == "picorv32" else self._serv(m)
        return m

    def _picorv32(self) -> Instance:
        """RV32IM with its fast multiplier and barrel shifter; no interrupts, no counters."""
        bus = self.bus
        return Instance(
            "picorv32",
            p_ENABLE_COUNTERS=Const(0, 1),
            p_ENABLE_COUNTERS64=Const(0, 1),
            p_BARREL_SHIFTER=Const(1, 1),
            p_ENABLE_FAST_MUL=Const(1, 1),
            p_ENABLE_DIV=Const(1, 1),
            p_CATCH_MISALIGN=Const(1, 1),
            p_CATCH_ILLINSN=Const(1, 1),
            i_clk=ClockSignal(),
            i_resetn=~self.halt,
            o_mem_valid=bus.valid,
            i_mem_ready=bus.ready,
            o_mem_addr=bus.address,
            o_mem_wdata=bus.written,
            o_mem_wstrb=bus.strobes,
            i_mem_rdata=bus.found,
            i_pcpi_wr=Const(0, 1),
            i_pcpi_rd=Const(0, 32),
            i_pcpi_wait=Const(0, 1),
            i_pcpi_ready=Const(0, 1),
            i_irq=Const(0, 32),
        )

    def _serv(self, m: Module) -> Instance:
        """RV32I, one bit in a cycle; its two buses are never busy at once."""
        bus, fetch, store, sel = self.bus, Signal(), Signal(), Signal(4)
        data, fetch_at, data_at = Signal(), Signal(32), Signal(32)
        m.d.comb += [
            bus.valid.eq(fetch | data),
            bus.address.eq(Mux(fetch, fetch_at, data_at)),
            bus.strobes.eq(Mux(store & ~fetch, sel, 0)),
        ]
        return Instance(
            "serv_rf_top",
            p_RESET_PC=Const(0, 32),
            p_WITH_CSR=0,
            i_clk=ClockSignal(),
            i_i_rst=self.halt,
            i_i_timer_irq=Const(0, 1),
            o_o_ibus_adr=fetch_at,
            o_o_ibus_cyc=fetch,
            i_i_ibus_rdt=bus.found,
            i_i_ibus_ack=bus.ready & fetch,
            o_o_dbus_adr=data_at,
            o_o_dbus_dat=bus.written,
            o_o_dbus_sel=sel,
            o_o_dbus_we=store,
            o_o_dbus_cyc=data,
            i_i_dbus_rdt=bus.found,
            i_i_dbus_ack=bus.ready & ~fetch,
            i_i_ext_rd=Const(0, 32),
            i_i_ext_ready=Const(0, 1),
        )
