-- needs: ccp/los.sql
-- Lines of sight as a part of something else, such as a shot or an order: the rules are those of `ccp.los` (16, T89).

-- The plan takes many times longer to make than to run: it is made once a session.
create or replace function ccp._sights(sighting ccp.sighting)
returns setof ccp.line_step
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
begin
  if cardinality(sighting.qs) = 1 then
    return query select step.* from ccp._one_line_steps(sighting) as step;
  else
    return query select step.* from ccp._line_steps(sighting) as step;
  end if;
end
$$;

comment on function ccp._sights(ccp.sighting) is
'The steps of `_line_steps` for who asks for sight among other things, planned once a session.';
